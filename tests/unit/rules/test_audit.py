"""The audit chain: whatever is changed, removed or swapped afterwards is found (SPEC P-04)."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec import Struct, structs

from moot.model.ids import ConversationId, ParticipantId, RootId, TurnId
from moot.model.message import Message, Part, Plan, Revision
from moot.model.participant import Kind
from moot.model.turn import Duty, RuleName
from moot.rules import audit

pytestmark = pytest.mark.req("P-04")

HERE = ConversationId("c1")
START = 1_800_000_000.0


class Chain(Struct):
    """A whole conversation as an auditor finds it."""

    messages: list[Message]
    revisions: list[Revision]
    head: str
    links: int

    def verdict(self) -> str | None:
        return audit.verify(self.messages, self.revisions, self.head, self.links)


def chain_of(acts: list[tuple[str, int]]) -> Chain:
    """Posts, edits and deletes, hashed as the flow hashes them."""
    chain = Chain(messages=[], revisions=[], head="", links=0)
    for kind, number in acts:
        if kind == "post" or not chain.messages:
            _post(chain, number)
        else:
            _revise(chain, number % len(chain.messages), "" if kind == "delete" else f"edited {number}")
    return chain


def _post(chain: Chain, number: int) -> None:
    message = Message(
        conversation=HERE,
        seq=len(chain.messages) + 1,
        author=ParticipantId("ab"[number % 2]),
        kind=Kind.AGENT if number % 3 else Kind.HUMAN,
        text=f"said {number}",
        root=RootId(f"c1:{1 + number % 4}"),
        hop=number % 5,
        at=START + len(chain.messages),
        mentions=(ParticipantId("b"),) if number % 2 else (),
        reply_to=number % 3,
        turn=TurnId(number) if number % 3 else None,
        round=number % 7,
        depth=number % 3,
        metadata={"n": number} if number % 4 == 0 else {},
        plan=Plan(parts=(Part(agent=ParticipantId("b"), duty=Duty.MUST, rule=RuleName.MENTION),)),
        key=f"k{number}",
        chain_place=chain.links + 1,
    )
    linked = audit.message_hash(chain.head, message.chain_place, message, audit.text_hash(message.text))
    chain.messages.append(structs.replace(message, hash=linked))
    chain.head, chain.links = linked, message.chain_place


def _revise(chain: Chain, place: int, text: str) -> None:
    before = chain.messages[place]
    if before.metadata.get("deleted"):
        return
    metadata = before.metadata if text else {**before.metadata, "deleted": True}
    after = structs.replace(before, text=text, version=before.version + 1, metadata=metadata)
    revision = Revision(
        conversation=HERE,
        seq=after.seq,
        version=after.version,
        was_hash=audit.text_hash(before.text),
        text_hash=audit.text_hash(after.text),
        by=ParticipantId("user"),
        at=START + chain.links,
        chain_place=chain.links + 1,
        hash="",
    )
    revision = structs.replace(revision, hash=audit.revision_hash(chain.head, revision))
    chain.messages[place] = after
    chain.revisions.append(revision)
    chain.head, chain.links = revision.hash, revision.chain_place


OTHERS: dict[type, Callable[[Any], Any]] = {
    Kind: lambda _: Kind.TOOL,
    int: lambda number: number + 1,
    float: lambda number: number + 1,
    str: lambda text: text + "x",
    tuple: lambda names: (*names, ParticipantId("z")),
    dict: lambda known: {**known, "z": 1},
    Plan: lambda _: Plan(),
    type(None): lambda _: 99,
}
"""For each kind of value another one."""


acts = st.lists(
    st.tuples(st.sampled_from(["post", "post", "post", "edit", "delete"]), st.integers(0, 50)),
    min_size=1,
    max_size=12,
)


@given(acts)
def test_a_chain_as_it_was_written_holds(written: list[tuple[str, int]]) -> None:
    assert chain_of(written).verdict() is None


@settings(max_examples=max(500, settings().max_examples))
@given(written=acts, chance=st.randoms(use_true_random=False))
def test_any_single_altered_field_is_reported(written: list[tuple[str, int]], chance: random.Random) -> None:
    chain = chain_of(written)
    rows: list[Any] = chance.choice([r for r in (chain.messages, chain.revisions) if r])
    place = chance.randrange(len(rows))
    field = chance.choice(rows[place].__struct_fields__)
    value = getattr(rows[place], field)
    rows[place] = structs.replace(rows[place], **{field: OTHERS[type(value)](value)})
    assert chain.verdict() is not None, f"{field} can be changed unnoticed"


@given(written=acts, chance=st.randoms(use_true_random=False))
def test_a_forged_mark_of_deletion_is_reported(written: list[tuple[str, int]], chance: random.Random) -> None:
    chain = chain_of(written)
    place = chance.randrange(len(chain.messages))
    message = chain.messages[place]
    marked = {key: value for key, value in message.metadata.items() if key != "deleted"}
    if not message.metadata.get("deleted"):
        marked["deleted"] = True
    chain.messages[place] = structs.replace(message, metadata=marked)
    assert chain.verdict() is not None


@given(written=acts, chance=st.randoms(use_true_random=False))
def test_a_removed_row_is_reported(written: list[tuple[str, int]], chance: random.Random) -> None:
    chain = chain_of(written)
    rows: list[Any] = chance.choice([r for r in (chain.messages, chain.revisions) if r])
    del rows[chance.randrange(len(rows))]
    assert chain.verdict() is not None


@given(
    written=acts,
    chance=st.randoms(use_true_random=False),
    fields=st.sampled_from(["text", "author", "at", "hash"]),
)
def test_swapped_fields_of_two_messages_are_reported(
    written: list[tuple[str, int]], chance: random.Random, fields: str
) -> None:
    chain = chain_of(written)
    assume(len(chain.messages) > 1)
    one, two = chance.sample(range(len(chain.messages)), 2)
    a, b = chain.messages[one], chain.messages[two]
    assume(getattr(a, fields) != getattr(b, fields))
    chain.messages[one] = structs.replace(a, **{fields: getattr(b, fields)})
    chain.messages[two] = structs.replace(b, **{fields: getattr(a, fields)})
    assert chain.verdict() is not None


@given(acts)
def test_a_chain_cut_at_its_end_does_not_reach_the_conversations_head(written: list[tuple[str, int]]) -> None:
    chain = chain_of([*written, ("post", 7)])
    chain.messages.pop()
    assert chain.verdict() is not None
