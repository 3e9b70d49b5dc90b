"""Coding CLIs as brains: `command:claude`, `command:codex`, `acp:COMMAND …`, `command:TEMPLATE`.

Above: wiring makes a `CommandBrain` per agent. Below: the turn (`HostedTurn`), which has what an agent is given, its
tools and its session's row. One `Driver` per kind of CLI; each speaks its own protocol and says what happened in the
same few values. Every CLI runs under keeper.py, so that nothing of it outlives the host.

`command_brain` thinks; `driver` is the port; `claude`, `codex`, `acp`, `template` fill it; `cli_process` and `keeper`
run programs; `line_peer` and `tool_server` speak JSON-RPC; `process_pool` bounds how many run; `sandbox` is the wall.
"""
