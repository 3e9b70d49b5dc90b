"""Tokens: who they let in, for how long, and that nothing of them is kept but a hash."""

import asyncio
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from moot import Hub, agent
from moot.errors import BadSettings, NotPermitted
from moot.hub.process.owner_token import owner_token
from moot.settings import Home
from tests.support.waiting import until


@agent("arya")
async def arya(turn: Any) -> str:
    return "yes"


@agent("bob")
async def bob(turn: Any) -> str:
    return "no"


@pytest.mark.req("P-06")
async def test_a_token_outlives_restarts_and_ends_with_its_revocation(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[arya]) as hub:
        issued = await hub.agents.issue_token("arya")
    async with Hub.open(tmp_path, agents=[arya]) as hub:
        found = await hub.agents.bearers().of(issued.token)
        assert found is not None
        assert (found.name, found.human, found.scopes) == ("arya", False, frozenset({"read", "post"}))
        await until(lambda: hub.agents.tokens("arya"), lambda tokens: tokens[0].used_at is not None)
        await hub.agents.revoke_token("arya", issued.id)
        assert await hub.agents.bearers().of(issued.token) is None
    async with Hub.open(tmp_path, agents=[arya]) as hub:
        assert await hub.agents.bearers().of(issued.token) is None


@pytest.mark.req("P-06")
async def test_only_a_hash_is_kept(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[arya]) as hub:
        issued = await hub.agents.issue_token("arya")
        secret = issued.token.removeprefix("moot_ag_arya_")
    kept = await asyncio.to_thread(lambda: [p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()])
    assert kept
    assert [content for content in kept if secret.encode() in content] == []


async def test_a_guess_or_a_piece_of_a_token_opens_nothing(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[arya]) as hub:
        issued = await hub.agents.issue_token("arya")
        for guess in (
            "",
            "moot_ag_arya_",
            issued.token[:-1],
            issued.token + "x",
            issued.id,
            "x" * 10_000,
            "\ud800",
        ):
            assert await hub.agents.bearers().of(guess) is None
        assert await hub.agents.bearers().of(issued.token) is not None


async def test_agents_deal_with_their_own_tokens_only(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[arya, bob]) as hub:
        as_arya = hub.acting_as("arya")
        issued = await as_arya.agents.issue_token("arya")
        with pytest.raises(NotPermitted):
            await as_arya.agents.issue_token("bob")
        with pytest.raises(NotPermitted):
            await hub.acting_as("bob").agents.revoke_token("arya", issued.id)
        await as_arya.agents.revoke_token("arya", issued.id)


async def test_an_owner_under_another_name_is_the_owner_still(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[arya, bob]) as hub:
        await hub.agents.rename("user", "ann")
        issued = await hub.agents.issue_token("arya")
        await hub.agents.revoke_token("arya", issued.id)
        with pytest.raises(NotPermitted):
            await hub.acting_as("bob").agents.issue_token("arya")
        assert (await hub.agents.rename("ann", "user")).name == "user", "the old name stayed its own"


async def test_issuing_and_revoking_are_audited(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[arya]) as hub:
        issued = await hub.agents.issue_token("arya")
        await hub.agents.revoke_token("arya", issued.id)
        told = await hub.audit.log(acts=["token.issued", "token.revoked"])
        acts = [(entry.act, entry.by, entry.subject) for entry in told]
        subject = f"token {issued.id}"
        assert acts == [("token.revoked", "user", subject), ("token.issued", "user", subject)]
        assert issued.token not in str(told)


@pytest.mark.req("P-06")
def test_the_owners_token_is_made_once_for_the_owner_alone(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    first = owner_token(home)
    assert first.startswith("moot_ow_")
    assert owner_token(home) == first
    assert stat.S_IMODE(home.token.stat().st_mode) == 0o600
    assert sorted(path.name for path in home.run.iterdir() if "token" in path.name) == ["token"]
    os.chmod(home.token, 0o644)
    assert owner_token(home) == first
    assert stat.S_IMODE(home.token.stat().st_mode) == 0o600


def test_a_broken_token_file_is_refused_in_words(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    owner_token(home)
    home.token.write_text("short\n")
    with pytest.raises(BadSettings):
        owner_token(home)
