"""Who may give which command in a chat; and that every surface has the same commands, from one parser."""

from typing import get_args

import pytest

from moot.bridges.discord.messages import commands
from moot.bridges.permissions import FOR_GUESTS
from moot.hub.commands.slash import DOES
from moot.hub.commands.slash_actions import ACTIONS
from moot.rules.words import slash

pytestmark = pytest.mark.req("G-12")


def test_every_command_is_carried_out_and_has_its_permission() -> None:
    every = set(get_args(slash.Command))
    assert DOES.keys() == every == ACTIONS.keys()
    assert every >= FOR_GUESTS


@pytest.mark.parametrize("row", slash.ROWS.values(), ids=lambda row: row.name)
def test_each_command_is_read_the_same_on_every_surface(row: slash.Row) -> None:
    """The terminal, the page and the bridges hand their lines to one parser; Discord's menu makes such lines."""
    plain = {"group config": "", "note": "", "why": "3", "links": "", "stop": "", "help": "", "turns": "3"}
    words = (plain | {"theme": "dark"}).get(row.name, "arya x")
    words = words if row.arguments else ""
    typed = f"/{row.name} {words}".strip()
    name, _, rest = typed.removeprefix("/").partition(" ")
    with_bot = f"/{name}@writer_bot {rest}".strip()
    assert type(slash.parse(typed)) is type(slash.parse(with_bot)) in ACTIONS
    if slash.Surface.CHAT_APP in row.on:
        offered = {command.name for command in commands()}
        assert row.name.partition(" ")[0] in offered
