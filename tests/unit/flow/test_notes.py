"""The verbs on shared notes, without a store: who may, what is refused with what, and what is told (SPEC S-15)."""

from typing import Any

import pytest

from moot.errors import BadName, BadText, Conflict, MootError, NotFound, NotPermitted
from moot.flow import delete_note, enrol, share_note, write_note
from moot.flow.enrol import Newcomer
from moot.model.change import Emit
from moot.model.event import Event
from moot.model.ids import ConversationId, ParticipantId
from moot.model.limits import Limits, Terms
from moot.model.participant import Kind
from moot.model.records.note import (
    NOTE_PERMISSIONS,
    NOTE_VERSIONS,
    NOTES,
    NoteAccess,
    NotePermission,
    SharedNote,
)
from moot.rules import audit, notes
from moot.stores.desk import Desk, Dirty
from moot.stores.fold import fold
from moot.stores.runner import Source

pytestmark = pytest.mark.req("S-15")

KARL, ARYA, GENDRY = (ParticipantId(name) for name in ("karl", "arya", "gendry"))
READ, WRITE = NoteAccess.READ, NoteAccess.READ_WRITE


class Table:
    """The verbs over one desk that never forgets, with what they told."""

    def __init__(self, **limits: int) -> None:
        self.desk = Desk(1, 1)
        self.told: list[Event] = []
        self._source = Source(
            lambda: 1_800_000_000.0, Terms(limits=Limits(**limits)), lambda: ConversationId("c1")
        )
        self(enrol, enrol.Enrol((Newcomer("karl", Kind.HUMAN), Newcomer("arya"), Newcomer("gendry"))))

    def __call__(self, verb: Any, command: Any) -> Any:
        decision = verb.decide(command, self.desk, self._source.moment(self.desk))
        self.told = [change.event for change in decision.changes if isinstance(change, Emit)]
        fold(self.desk, decision.changes, Dirty())
        return decision.answer

    def new(self, name: str, text: str = "", by: ParticipantId = KARL) -> SharedNote:
        others = len(self.desk.records(NOTES.all()))
        command = write_note.WriteNote(by, name, text, write_note.NEW, others=others)
        made: SharedNote = self(write_note, command)
        return made

    def write(
        self, by: ParticipantId, name: str, text: str, version: int | None = None, **more: Any
    ) -> SharedNote:
        written: SharedNote = self(write_note, write_note.WriteNote(by, name, text, version, **more))
        return written

    def share(
        self, name: str, agent: str, access: NoteAccess | None, by: ParticipantId = KARL
    ) -> list[NotePermission]:
        found: list[NotePermission] = self(share_note, share_note.ShareNote(by, name, agent, access))
        return found

    def delete(self, name: str, by: ParticipantId = KARL) -> SharedNote:
        gone: SharedNote = self(delete_note, delete_note.DeleteNote(by, name))
        return gone

    @property
    def kinds(self) -> list[str]:
        return [event.type.value for event in self.told]


@pytest.fixture
def table() -> Table:
    return Table()


def refused(kind: type[MootError], act: Any, *args: Any, **more: Any) -> MootError:
    with pytest.raises(kind) as caught:
        act(*args, **more)
    return caught.value


def test_a_note_is_made_written_and_chained(table: Table) -> None:
    made = table.new("Deploy", "canary: red")
    assert (made.name, made.version, made.created_by, table.kinds) == ("deploy", 1, KARL, ["note.created"])
    written = table.write(KARL, "deploy", "canary: green", 1)
    assert (written.version, written.text, table.kinds) == (2, "canary: green", ["note.changed"])
    assert "canary" not in str(table.told[0].body), "texts stay where they can be deleted"
    versions = [table.desk.record(NOTE_VERSIONS, "deploy", n) for n in (1, 2)]
    assert audit.verify_note(written, [version for version in versions if version is not None]) is None


def test_a_stale_version_is_refused_with_both_texts_and_who_was_faster(table: Table) -> None:
    table.new("deploy", "a")
    table.share("deploy", "arya", WRITE)
    table.write(ARYA, "deploy", "hers", 1)
    stale = refused(Conflict, table.write, KARL, "deploy", "his", 1)
    facts = {"current_version": 2, "current_text": "hers", "your_text": "his", "updated_by": "arya"}
    assert stale.facts.items() >= facts.items()
    assert "arya wrote version 2" in stale.title
    assert refused(Conflict, table.write, KARL, "deploy", "his", 3).facts["current_version"] == 2
    assert table.write(KARL, "deploy", "merged", 2).version == 3


def test_what_stands_already_is_written_once_whichever_version_was_seen(table: Table) -> None:
    table.new("deploy", "a")
    table.write(KARL, "deploy", "b", 1)
    again = table.write(KARL, "deploy", "b", 1)
    assert (again.version, table.kinds) == (2, [])


def test_without_a_version_it_writes_over_whatever_stands_and_appends_behind_it(table: Table) -> None:
    table.new("deploy", "a")
    assert table.write(KARL, "deploy", "b").text == "b"
    assert table.write(KARL, "deploy", "c", append=True).text == "b\nc"
    assert table.write(KARL, "deploy", "").text == "", "a note may be empty"


def test_an_agent_does_what_it_was_granted(table: Table) -> None:
    table.new("deploy", "a")
    assert [(p.participant, p.access) for p in table.share("deploy", "arya", READ)] == [(ARYA, READ)]
    denied = refused(NotPermitted, table.write, ARYA, "deploy", "b")
    assert "may read deploy, but not write it" in denied.title
    table.share("deploy", "arya", WRITE)
    body = table.told[0].body or {}
    assert (table.kinds, body["agent"], body["access"]) == (["note.shared"], ARYA, "read_write")
    assert table.write(ARYA, "deploy", "b").updated_by == ARYA
    assert table.share("deploy", "arya", None) == []
    assert table.told[0].body is not None
    assert table.told[0].body["access"] == "none"
    assert refused(NotFound, table.write, ARYA, "deploy", "c").title == 'no note of yours is called "deploy"'
    table.share("deploy", "arya", None)
    assert table.kinds == [], "what is so already is not told again"


def test_what_an_agent_may_not_see_is_refused_like_what_is_not_there(table: Table) -> None:
    table.new("deploy", "a")
    table.share("deploy", "gendry", WRITE)
    for act in (
        lambda name: table.write(ARYA, name, "b"),
        lambda name: table.write(ARYA, name, "b", 1),
        lambda name: table.write(ARYA, name, "b", append=True),
        lambda name: table.new(name, "b", by=ARYA),
        lambda name: table.share(name, "arya", READ, by=ARYA),
        lambda name: table.delete(name, by=ARYA),
    ):
        there = refused(MootError, act, "deploy").to_dict()
        absent = refused(MootError, act, "elsewhere").to_dict()
        assert {k: str(v).replace("elsewhere", "deploy") for k, v in absent.items()} == {
            k: str(v) for k, v in there.items()
        }


def test_only_people_make_share_and_delete_notes(table: Table) -> None:
    table.new("deploy", "a")
    table.share("deploy", "arya", WRITE)
    for act in (
        lambda: table.new("other", by=ARYA),
        lambda: table.share("deploy", "gendry", READ, by=ARYA),
        lambda: table.delete("deploy", by=ARYA),
    ):
        assert refused(NotPermitted, act).detail == "only people may do this, not agents"


def test_people_need_no_permission_and_nobody_unknown_gets_one(table: Table) -> None:
    table.new("deploy")
    assert "karl is a person" in refused(Conflict, table.share, "deploy", "karl", READ).title
    refused(NotFound, table.share, "deploy", "nobody", READ)
    assert refused(NotFound, table.share, "none", "arya", READ).name == "note_not_found"


def test_a_deleted_note_takes_its_versions_and_permissions_with_it(table: Table) -> None:
    table.new("deploy", "a")
    table.write(KARL, "deploy", "b")
    table.share("deploy", "arya", WRITE)
    table.delete("deploy")
    assert table.kinds == ["note.deleted"]
    assert table.desk.records(NOTES.all()) == []
    assert table.desk.records(NOTE_PERMISSIONS.where(participant=ARYA)) == []
    assert [table.desk.record(NOTE_VERSIONS, "deploy", number) for number in (1, 2)] == [None, None]
    refused(NotFound, table.write, ARYA, "deploy", "c")
    assert (table.new("deploy", "anew").version, table.write(KARL, "deploy", "b").version) == (1, 2)


def test_a_new_note_needs_no_other_note_to_be_read() -> None:
    command = write_note.WriteNote(KARL, "Plan", "", write_note.NEW)
    assert write_note.scope(command).records == (NOTES.one("plan"),)


def test_names_texts_and_how_many_there_are_is_bounded() -> None:
    table = Table(message_bytes=10)
    wrong = refused(BadName, table.new, "a/b")
    assert (wrong.facts["problem"], wrong.suggestions) == ("shape", ("a-b",))
    for text, problem in (("x" * 11, "too_long"), ("a\0b", "nul"), ("\ud800", "surrogate")):
        assert refused(BadText, table.new, "n", text).facts["problem"] == problem
    table.new("n", "x" * 8)
    assert refused(BadText, table.write, KARL, "n", "yy", append=True).facts["problem"] == "too_long"
    for number in range(notes.MAX_NOTES - 1):
        table.new(f"n{number}")
    assert f"{notes.MAX_NOTES} notes" in refused(Conflict, table.new, "one-more").title
    assert "already exists" in refused(Conflict, table.new, "n1").title
