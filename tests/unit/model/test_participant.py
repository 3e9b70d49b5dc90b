from msgspec import json

from moot.model.participant import NO_CONFIG, AgentConfig


def test_what_an_older_moot_kept_of_an_agent_still_loads() -> None:
    kept = b'{"on_busy":"interrupt","color":"teal","once":[1,{"known":true}]}'
    assert json.decode(kept, type=AgentConfig) == AgentConfig(on_busy="interrupt", color="teal")
    assert json.decode(b"{}", type=AgentConfig) == NO_CONFIG


def test_what_was_never_set_is_not_kept() -> None:
    assert json.encode(NO_CONFIG) == b"{}"
    assert json.encode(AgentConfig(client="claude", pid=7)) == b'{"client":"claude","pid":7}'
