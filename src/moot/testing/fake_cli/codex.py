"""As Codex by its app-server."""

import json
import os
import uuid
from hashlib import blake2b
from pathlib import Path
from typing import Any

from moot.testing.fake_cli.acts import VERSION, ScriptedCli, ScriptedSession

KEY_IN_MEMORY = 'cli_auth_credentials_store="ephemeral"'
REFUSED = "-refused"
"""The end of a key that is not taken."""


def fingerprint(key: str) -> str:
    """What says that it has a key without saying the key."""
    return blake2b(key.encode(), digest_size=8).hexdigest()


class ScriptedCodex(ScriptedCli):
    turn = ""
    total = 0
    key = ""
    ends_its_commands = False

    def __init__(self, words: list[str]) -> None:
        super().__init__()
        self.keeps_key_in_memory = KEY_IN_MEMORY in words

    def on_message(self, message: dict[str, Any]) -> None:
        method, number, params = message.get("method"), message.get("id"), message.get("params") or {}
        match method:
            case None:
                self.on_answer(number, message.get("result") or {"refused": message.get("error")})
            case "initialize":
                self.reply(number, {"userAgent": f"fake/{VERSION}"})
            case "account/login/start":
                self.log_in(number, params["apiKey"])
            case "thread/start":
                self.session = ScriptedSession(str(uuid.uuid4()), resume=False)
                self.reply(number, {"thread": {"id": self.session.id}, "model": "gpt-5-mini"})
            case "thread/resume":
                self.resume(number, params["threadId"])
            case "turn/start":
                self.turn = f"turn-{next(self.numbers)}"
                self.reply(number, {"turn": {"id": self.turn, "status": "inProgress"}})
                self.prompts.put(params["input"][0]["text"])
            case "turn/interrupt":
                self.reply(number, {})
                self.stopped.set()
            case _:
                pass

    def log_in(self, number: Any, key: str) -> None:
        """As the real one: without the setting a key goes into a file."""
        if key.endswith(REFUSED):
            error = {"code": -32600, "message": f"invalid key {key}"}
            self.pipe.send({"id": number, "error": error})
            return
        if not self.keeps_key_in_memory:
            file = Path(os.environ["HOME"], ".codex", "auth.json")
            file.parent.mkdir(exist_ok=True)
            file.write_text(json.dumps({"OPENAI_API_KEY": key}))
        self.key = key
        self.reply(number, {"type": "apiKey"})

    def resume(self, number: Any, thread: str) -> None:
        try:
            self.session = ScriptedSession(thread, resume=True)
        except LookupError:
            error = {"code": -32600, "message": f"no rollout found for thread id {thread}"}
            self.pipe.send({"id": number, "error": error})
            return
        self.reply(number, {"thread": {"id": thread}, "model": "gpt-5-mini"})

    def reply(self, number: Any, result: dict[str, Any]) -> None:
        self.pipe.send({"id": number, "result": result})

    def notify(self, method: str, **params: Any) -> None:
        about = {"threadId": self.session.id, "turnId": self.turn}
        self.pipe.send({"method": method, "params": {**about, **params}})

    def request(self, method: str, **params: Any) -> Any:
        number = f"q{next(self.numbers)}"
        about = {"threadId": self.session.id, "turnId": self.turn}
        self.pipe.send({"id": number, "method": method, "params": {**about, **params}})
        return self.answer_to(number)

    def began(self, text: str) -> None:
        self.notify("turn/started", turn={"id": self.turn})

    def delta(self, piece: str) -> None:
        self.notify("item/agentMessage/delta", itemId="m", delta=piece)

    def tool_began(self, number: str, command: str) -> None:
        self.notify("item/started", item={"type": "commandExecution", "id": number, "command": command})

    def tool_ended(self, number: str, output: str, code: int) -> None:
        status = "completed" if code == 0 else "failed"
        item = {"type": "commandExecution", "id": number, "aggregatedOutput": output, "status": status}
        self.notify("item/completed", item=item)
        self.report(output)

    def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        answer = self.request("item/tool/call", tool=tool, arguments=arguments, callId="c", namespace="moot")
        return answer["contentItems"][0]["text"]

    def wish(self, tool: str, action: str) -> str:
        answer = self.request("item/commandExecution/requestApproval", itemId="i", command=action)
        return {"accept": "allow", "decline": "deny"}[answer["decision"]]

    def more(self, word: str, rest: str) -> None:
        if word == "unknown":
            self.say(str(self.request("item/unheard/of")["refused"]["code"]))
        elif word == "key":
            self.say(fingerprint(self.key) if self.key else "no key")

    def ended(self, how: str, why: str = "") -> None:
        self.total += 1020
        used = {"inputTokens": self.total - 20, "outputTokens": 20, "totalTokens": self.total}
        self.notify("thread/tokenUsage/updated", tokenUsage={"total": used, "last": used})
        status = {"end": "completed", "interrupted": "interrupted", "error": "failed"}[how]
        turn = {"id": self.turn, "status": status, "error": {"message": why} if why else None}
        self.notify("turn/completed", turn=turn)
