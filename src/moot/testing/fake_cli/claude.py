"""As Claude Code by its stream-json pipe."""

import sys
import uuid
from typing import Any

from moot.testing.fake_cli.acts import VERSION, ScriptedCli, ScriptedSession


class ScriptedClaude(ScriptedCli):
    def __init__(self, words: list[str]) -> None:
        super().__init__()
        resume = "--resume" in words
        name = words[words.index("--resume" if resume else "--session-id") + 1]
        try:
            self.session = ScriptedSession(name, resume=resume)
        except LookupError:
            sys.stderr.write(f"No conversation found with session ID: {name}\n")
            sys.exit(1)
        self.text = ""

    def on_message(self, message: dict[str, Any]) -> None:
        request = message.get("request") or {}
        match message["type"], request.get("subtype"):
            case "control_request", "interrupt":
                self.respond(message, {})
                self.stopped.set()
            case "control_request", _:
                self.respond(message, {"version": VERSION})
            case "control_response", _:
                self.on_answer(message["response"]["request_id"], message["response"])
            case _:
                self.prompts.put(message["message"]["content"])

    def respond(self, message: dict[str, Any], answer: dict[str, Any]) -> None:
        response = {"subtype": "success", "request_id": message["request_id"], "response": answer}
        self.pipe.send({"type": "control_response", "response": response})

    def request(self, request: dict[str, Any]) -> Any:
        number = str(uuid.uuid4())
        self.pipe.send({"type": "control_request", "request_id": number, "request": request})
        return self.answer_to(number)["response"]

    def event(self, event: dict[str, Any]) -> None:
        self.pipe.send({"type": "stream_event", "event": event, "parent_tool_use_id": None})

    def began(self, text: str) -> None:
        self.text = ""
        self.pipe.send({"type": "system", "subtype": "init", "session_id": self.session.id})
        self.started()

    def started(self) -> None:
        usage = {"input_tokens": 1000, "output_tokens": 1}
        begun = {"id": f"m{next(self.numbers)}", "model": "claude-haiku-4-5", "usage": usage}
        self.event({"type": "message_start", "message": begun})

    def delta(self, piece: str) -> None:
        self.text += piece
        self.event({"type": "content_block_delta", "delta": {"type": "text_delta", "text": piece}})

    def tool_began(self, number: str, command: str) -> None:
        self.text = ""
        block = {"type": "tool_use", "id": number, "name": "Bash", "input": {"command": command}}
        self.pipe.send({"type": "assistant", "message": {"content": [block]}, "parent_tool_use_id": None})

    def tool_ended(self, number: str, output: str, code: int) -> None:
        block = {"type": "tool_result", "tool_use_id": number, "content": output, "is_error": code != 0}
        self.pipe.send({"type": "user", "message": {"content": [block]}, "parent_tool_use_id": None})
        self.started()
        self.report(output)

    def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        self.text = ""
        number = next(self.numbers)
        block = {"type": "tool_use", "id": f"t{number}", "name": f"mcp__moot__{tool}", "input": arguments}
        self.pipe.send({"type": "assistant", "message": {"content": [block]}, "parent_tool_use_id": None})
        params = {"name": tool, "arguments": arguments}
        rpc = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        answer = self.request({"subtype": "mcp_message", "server_name": "moot", "message": rpc})
        self.started()
        return answer["mcp_response"]["result"]["content"][0]["text"]

    def wish(self, tool: str, action: str) -> str:
        given = {"command": action} if tool == "Bash" else {"file_path": action}
        answer = self.request({"subtype": "can_use_tool", "tool_name": tool, "input": given})
        return str(answer["behavior"]) + (f": {answer['message']}" if "message" in answer else "")

    def ended(self, how: str, why: str = "") -> None:
        stopped = how == "interrupted"
        result: dict[str, Any] = {
            "type": "result",
            "subtype": "error_during_execution" if stopped else "success",
            "is_error": how == "error",
            "total_cost_usd": 0.0 if stopped else self.session.cost,
            "usage": {} if stopped else {"input_tokens": 1000, "output_tokens": 20},
            "permission_denials": [],
        }
        if not stopped:
            result["result"] = f"API Error: {why}" if how == "error" else self.text
        self.pipe.send(result)
