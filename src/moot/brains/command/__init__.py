"""Coding CLIs as brains: `command:claude`, `command:codex`, `acp:COMMAND …`, `command:TEMPLATE`.

Above: wiring makes a `CommandBrain` per agent. Below: the turn (`HostedTurn`), which has the agent's prompt, its tools
and the row of its session. One `Driver` per kind of CLI; each speaks its own protocol and reports the same few events.
Every CLI runs under keeper.py, so that no process it starts outlives the host.

`command_brain` thinks; `driver` is the port; `claude`, `codex`, `acp`, `template` fill it; `cli_process` and `keeper`
run programs; `line_peer` and `tool_server` speak JSON-RPC; `process_pool` bounds how many run; `cli_sandbox` confines
them.
"""
