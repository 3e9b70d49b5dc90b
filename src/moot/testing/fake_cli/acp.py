"""As an agent that speaks the Agent Client Protocol."""

import json
import subprocess
import uuid
from typing import Any

from moot.testing.fake_cli.acts import VERSION, ActInterrupted, ScriptedCli, ScriptedSession


class ScriptedAcp(ScriptedCli):
    def __init__(self, words: list[str]) -> None:
        super().__init__()
        self.can_resume = "--no-resume" not in words
        self.number: Any = None
        self.cancelled_once = False
        self.server: subprocess.Popen[str] | None = None

    def on_message(self, message: dict[str, Any]) -> None:
        method, number, params = message.get("method"), message.get("id"), message.get("params") or {}
        match method:
            case None:
                self.on_answer(number, message.get("result") or {"refused": message.get("error")})
            case "initialize":
                can = {"sessionCapabilities": {"resume": {}} if self.can_resume else {}, "loadSession": False}
                self.reply(
                    number,
                    {"protocolVersion": 1, "agentCapabilities": can, "agentInfo": {"version": VERSION}},
                )
            case "session/new":
                self.session = ScriptedSession(str(uuid.uuid4()), resume=False)
                self.opened(number, params, {"sessionId": self.session.id})
            case "session/resume":
                try:
                    self.session = ScriptedSession(params["sessionId"], resume=True)
                    self.opened(number, params, {})
                except LookupError:
                    self.pipe.send(
                        {"jsonrpc": "2.0", "id": number, "error": {"code": -32002, "message": "no such"}}
                    )
            case "session/set_mode":
                self.mode = params["modeId"]
                self.reply(number, {})
            case "session/prompt":
                self.number = number
                self.prompts.put(params["prompt"][0]["text"])
            case "session/cancel":
                self.stopped.set()
            case _:
                pass

    def opened(self, number: Any, params: dict[str, Any], about: dict[str, Any]) -> None:
        self.mode = "auto"
        self.server_line = params["mcpServers"][0]
        modes = {"currentModeId": "auto", "availableModes": [{"id": "auto"}, {"id": "default"}]}
        self.reply(number, {**about, "modes": modes})

    def reply(self, number: Any, result: dict[str, Any]) -> None:
        self.pipe.send({"jsonrpc": "2.0", "id": number, "result": result})

    def update(self, **update: Any) -> None:
        params = {"sessionId": self.session.id, "update": update}
        self.pipe.send({"jsonrpc": "2.0", "method": "session/update", "params": params})

    def request(self, method: str, **params: Any) -> Any:
        number = f"q{next(self.numbers)}"
        self.pipe.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return self.answer_to(number)

    def began(self, text: str) -> None:
        self.update(sessionUpdate="available_commands_update", availableCommands=[])

    def delta(self, piece: str) -> None:
        self.update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": piece})

    def tool_began(self, number: str, command: str) -> None:
        self.update(
            sessionUpdate="tool_call", toolCallId=number, title="shell", kind="execute", status="pending"
        )

    def tool_ended(self, number: str, output: str, code: int) -> None:
        content = [{"type": "content", "content": {"type": "text", "text": output}}]
        status = "completed" if code == 0 else "failed"
        self.update(sessionUpdate="tool_call_update", toolCallId=number, status=status, content=content)
        self.report(output)

    def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        if self.server is None:
            words = [self.server_line["command"], *self.server_line["args"]]
            self.server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        params = {"name": tool, "arguments": arguments}
        rpc = {"jsonrpc": "2.0", "id": next(self.numbers), "method": "tools/call", "params": params}
        self.server.stdin.write(json.dumps(rpc) + "\n")
        self.server.stdin.flush()
        return json.loads(self.server.stdout.readline())["result"]["content"][0]["text"]

    def wish(self, tool: str, action: str) -> str:
        kinds = ("allow_always", "allow_once", "reject_always", "reject_once")
        options = [{"optionId": f"o-{kind}", "name": kind, "kind": kind} for kind in kinds]
        edits = tool == "Write"
        call = {
            "toolCallId": "w",
            "title": tool,
            "kind": "edit" if edits else "execute",
            "rawInput": {} if edits else {"command": action},
            "locations": [{"path": action}] if edits else [],
        }
        answer = self.request(
            "session/request_permission", sessionId=self.session.id, toolCall=call, options=options
        )
        outcome = answer["outcome"]
        return str(outcome.get("optionId", outcome["outcome"]))

    def more(self, word: str, rest: str) -> None:
        match word:
            case "unknown":
                self.update(sessionUpdate="of_a_later_version", payload={"deep": [1]})
                self.say(str(self.request("fs/read_text_file", path="/etc/passwd")["refused"]["code"]))
            case "long":
                self.update(sessionUpdate="of_a_later_version", payload="x" * (5 << 20))
                self.say("after the long line")
            case "mode":
                self.say(f"mode {self.mode}")
            case "stray" if not self.cancelled_once:
                self.cancelled_once = True
                raise ActInterrupted
            case "stray":
                self.say("the second time")
            case _:
                pass

    def ended(self, how: str, why: str = "") -> None:
        if how == "error":
            self.pipe.send({"jsonrpc": "2.0", "id": self.number, "error": {"code": -32000, "message": why}})
            return
        reason = {"end": "end_turn", "interrupted": "cancelled"}[how]
        usage = {"inputTokens": 1000, "outputTokens": 20}
        self.reply(self.number, {"stopReason": reason, "usage": usage})
