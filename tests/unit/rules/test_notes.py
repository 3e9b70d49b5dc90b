"""Shared notes: what they may be called, who may what, and the chain of their versions (SPEC S-15, S-17)."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from moot.model.ids import ParticipantId
from moot.model.participant import Kind, Participant
from moot.model.records.note import NoteAccess, NoteName, NotePermission, NoteVersion, SharedNote
from moot.rules import audit, notes
from moot.rules.words.names import NOTE_LENGTH, NameProblem, check_note_name

NAME = NoteName("deploy")
KARL, ARYA = ParticipantId("karl"), ParticipantId("arya")
START = 1_800_000_000.0


def who(kind: Kind) -> Participant:
    return Participant(id=ARYA, name="arya", kind=kind)


@pytest.mark.req("S-15")
@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("deploy-status", "deploy-status"),
        (" On-Call ", "on-call"),
        ("v1.2_final", "v1.2_final"),
        ("7", "7"),
        ("gru\u0308\u00dfe", "gr\u00fc\u00dfe"),
        ("x" * NOTE_LENGTH, "x" * NOTE_LENGTH),
    ],
)
def test_a_name_is_one_word_of_letters_digits_and_a_few_signs(typed: str, kept: str) -> None:
    assert check_note_name(typed) == kept
    assert notes.canonical_name(typed) == kept


@pytest.mark.req("S-15")
@pytest.mark.parametrize(
    "typed",
    [
        *(
            "",
            " ",
            "a b",
            "a/b",
            "..",
            ".",
            ".hidden",
            "a.",
            "-x",
            "_x",
            "a:b",
            "@arya",
            "#room",
            "a\\b",
            "a{b",
        ),
        *(
            "a\nb",
            "a\0b",
            "a\u200bb",
            "\u202ename",
            "\u0301x",
            "x" * (NOTE_LENGTH + 1),
            "%2e%2e",
            "a?b",
            "a=b",
        ),
    ],
)
def test_what_could_be_a_path_an_address_or_unseen_is_no_name(typed: str) -> None:
    with pytest.raises(NameProblem) as refused:
        check_note_name(typed)
    assert refused.value.problem == "shape"
    for better in refused.value.suggestions:
        assert check_note_name(better) == better
    assert notes.canonical_name(typed) == ""


@given(st.text(max_size=80))
def test_a_name_that_was_accepted_is_found_again_as_it_is_kept(typed: str) -> None:
    kept = notes.canonical_name(typed)
    assert len(kept) <= NOTE_LENGTH
    assert notes.canonical_name(kept) == kept


@pytest.mark.req("S-15")
@pytest.mark.parametrize("kind", [Kind.AGENT, Kind.EXTERNAL, Kind.TOOL])
def test_an_agent_may_what_it_was_granted_and_people_everything(kind: Kind) -> None:
    assert notes.access_of(who(kind), None) is None
    for access in NoteAccess:
        granted = NotePermission(NAME, ARYA, access, KARL, START)
        assert notes.access_of(who(kind), granted) is access
    assert notes.access_of(who(Kind.HUMAN), None) is NoteAccess.READ_WRITE


def test_an_agent_is_told_nothing_of_how_a_note_could_be_made() -> None:
    assert notes.unknown_note("x", who(Kind.AGENT)).fix == ()
    assert len(notes.unknown_note("x", who(Kind.HUMAN)).fix) == 2
    assert len(notes.unknown_note("a/b", who(Kind.HUMAN)).fix) == 1, (
        "what no note can be called is not to be made"
    )


@pytest.mark.parametrize(
    ("text", "more", "whole"),
    [("", "a", "a"), ("a", "b", "a\nb"), ("a\n", "b", "a\nb"), ("a", "b\nc\n", "a\nb\nc\n")],
)
def test_what_is_appended_stands_on_a_line_of_its_own(text: str, more: str, whole: str) -> None:
    assert notes.appended(text, more) == whole


def test_lines_are_counted_wherever_they_stand() -> None:
    assert notes.changed_lines("a\nb\nc", "c\nb\nd\nd") == (2, 1)
    assert notes.changed_lines("", "a\nb") == (2, 0)
    assert notes.diff("a\nb\n", "a\nc\n", ("x v1", "x v2")).splitlines()[-3:] == [" a", "-b", "+c"]
    assert notes.diff("a", "a", ("x v1", "x v2")) == ""


# --- the chain -------------------------------------------------------------------------------------------


def written(texts: list[str]) -> tuple[SharedNote, list[NoteVersion]]:
    """A note as the verb writes it, version by version."""
    versions: list[NoteVersion] = []
    for number, text in enumerate(texts, 1):
        version = NoteVersion(NAME, number, text, (KARL, ARYA)[number % 2], START + number, "")
        before = versions[-1].hash if versions else ""
        versions.append(structs.replace(version, hash=audit.note_version_hash(before, version)))
    first, last = versions[0], versions[-1]
    return SharedNote(
        NAME, last.text, last.version, last.hash, first.by, first.at, last.by, last.at
    ), versions


OTHERS: dict[type, Any] = {int: lambda n: n + 1, float: lambda n: n + 1, str: lambda text: text + "x"}
texts = st.lists(st.text(max_size=5), min_size=1, max_size=6)


@pytest.mark.req("S-15", "S-17")
@given(texts)
def test_a_chain_of_versions_as_it_was_written_holds(said: list[str]) -> None:
    assert audit.verify_note(*written(said)) is None


@pytest.mark.req("S-15", "S-17")
@given(said=texts, chance=st.randoms(use_true_random=False))
def test_any_single_altered_field_of_a_note_is_reported(said: list[str], chance: random.Random) -> None:
    note, versions = written(said)
    place = chance.randrange(-1, len(versions))
    row: Any = note if place < 0 else versions[place]
    field = chance.choice(row.__struct_fields__)
    value = getattr(row, field)
    altered = structs.replace(row, **{field: OTHERS[type(value)](value)})
    if place < 0:
        note = altered
    else:
        versions[place] = altered
    assert audit.verify_note(note, versions) is not None, f"{field} of {row} can be changed unnoticed"


@pytest.mark.req("S-15", "S-17")
@given(said=texts, chance=st.randoms(use_true_random=False))
def test_a_version_that_is_missing_added_or_swapped_is_reported(
    said: list[str], chance: random.Random
) -> None:
    note, versions = written(said)
    place = chance.randrange(len(versions))
    assert audit.verify_note(note, [*versions[:place], *versions[place + 1 :]]) is not None
    assert audit.verify_note(note, [*versions[:place], versions[place], *versions[place:]]) is not None
    if len(versions) > 1:
        other = (place + 1) % len(versions)
        versions[place], versions[other] = versions[other], versions[place]
        assert audit.verify_note(note, versions) is not None
    assert audit.verify_note(note, []) is not None
