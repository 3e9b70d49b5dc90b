"""Values to rows and back. A row has a column per field, in the order of the fields.

Out: enums are text already, moments become whole microseconds, what has structure becomes JSON text. In: a
result arrives as JSON (sql/shapes.sql: plain fields first, then structured ones) and is decoded in one call.
"""

from collections.abc import Callable
from operator import attrgetter, itemgetter
from types import GenericAlias, UnionType
from typing import Any, Generic, NewType, TypeVar, Union, get_args, get_origin, get_type_hints

from msgspec import Struct, json, structs

from moot.model.chain import Pair, Root
from moot.model.conversation import Conversation, Member
from moot.model.event import Event
from moot.model.message import Message, Revision, Summary
from moot.model.moment import micros
from moot.model.participant import Host, Participant, Quota
from moot.model.records.tables import TABLES
from moot.model.round import Round
from moot.model.turn import Turn

S = TypeVar("S", bound=Struct)

_encode = json.Encoder().encode


def _struct_text(value: Struct) -> str:
    return _encode(value).decode()


def _list_text(value: tuple[Any, ...]) -> str:
    return _encode(value).decode() if value else "[]"


def _dict_text(value: dict[str, Any]) -> str:
    return _encode(value).decode() if value else "{}"


class RecordedTurn(Turn, frozen=True, gc=False, omit_defaults=True):
    """A turn as it stands in an event: short, because defaults are left out."""


def _turn_text(turn: Turn) -> str:
    return _encode(RecordedTurn(*structs.astuple(turn))).decode()


def _plain(hint: Any) -> Any:
    """What a hint stands for, without NewType and `| None`; of several shapes, which JSON tells apart, the first."""
    while isinstance(hint, NewType):
        hint = hint.__supertype__
    if get_origin(hint) in (Union, UnionType):
        hint, *_ = [_plain(arg) for arg in get_args(hint) if arg is not type(None)]
    return hint


def _to_json(hint: Any) -> Callable[[Any], str] | None:
    """How a field becomes JSON text; None when a column can hold it as it is. A field that is None stays NULL."""
    plain = _plain(hint)
    if plain is Turn:
        return _turn_text
    if get_origin(plain) is dict:
        return _dict_text
    if get_origin(plain) is tuple:
        return _list_text
    return _struct_text if isinstance(plain, type) and issubclass(plain, Struct) else None


Changes = list[tuple[int, Callable[[Any], Any]]]


def _binding(
    fields: Callable[[Any], tuple[Any, ...]], always: Changes, perhaps: Changes
) -> Callable[[Any], list[Any]]:
    """How the fields of a value are bound to columns; `perhaps` are those that may be None, and then stay so."""

    def row(value: Any) -> list[Any]:
        found = list(fields(value))
        for n, change in always:
            found[n] = change(found[n])
        for n, change in perhaps:
            if found[n] is not None:
                found[n] = change(found[n])
        return found

    return row


class Rows(Generic[S]):
    """The rows of one kind of value. `in_micros` names the fields kept as whole microseconds."""

    def __init__(self, cls: type[S], in_micros: tuple[str, ...] = ()) -> None:
        hints = get_type_hints(cls)
        fields = cls.__struct_fields__
        to_json = {n: change for n, name in enumerate(fields) if (change := _to_json(hints[name]))}
        moments = {n: micros for n, name in enumerate(fields) if name in in_micros}
        self._cls = cls
        self._columns = {name: to_json.get(n) or moments.get(n) for n, name in enumerate(fields)}
        self._optional = frozenset(name for name in fields if type(None) in get_args(hints[name]))
        self.row: Callable[[S], list[Any]] = self._bound(structs.astuple, fields)
        """What is bound to the columns, in the order of the fields."""
        order = [*(n for n in range(len(fields)) if n not in to_json), *to_json]
        self._in_field_order = itemgetter(*(order.index(n) for n in range(len(fields))))
        shape = GenericAlias(tuple, tuple(hints[fields[n]] for n in order))
        self._one = json.Decoder(shape, strict=False)
        self._many = json.Decoder(GenericAlias(list, (shape,)), strict=False)

    def part(self, *names: str) -> Callable[[S], list[Any]]:
        """How these fields alone are bound."""
        return self._bound(attrgetter(*names), names)

    def _bound(
        self, fields: Callable[[S], tuple[Any, ...]], names: tuple[str, ...]
    ) -> Callable[[S], list[Any]]:
        always: Changes = []
        perhaps: Changes = []
        for n, name in enumerate(names):
            if (change := self._columns[name]) is not None:
                (perhaps if name in self._optional else always).append((n, change))
        return _binding(fields, always, perhaps)

    def one(self, shape: str | bytes) -> S:
        return self._cls(*self._in_field_order(self._one.decode(shape)))

    def many(self, shapes: str | None) -> list[S]:
        """All values of a result; SQL gives them with commas between, and NULL for none."""
        if shapes is None:
            return []
        cls, in_field_order = self._cls, self._in_field_order
        return [cls(*in_field_order(row)) for row in self._many.decode(f"[{shapes}]")]


CONVERSATIONS = Rows(Conversation, in_micros=("created_at", "updated_at"))
TALK = CONVERSATIONS.part("id", *Conversation.TALK)
MEMBERS = Rows(Member, in_micros=("joined_at",))
MESSAGES = Rows(Message, in_micros=("at",))
REVISIONS = Rows(Revision, in_micros=("at",))
TURNS = Rows(Turn, in_micros=("created_at",))
CALLING = TURNS.part("id", *Turn.CALLING)
ROUNDS = Rows(Round)
ROOTS = Rows(Root)
PAIRS = Rows(Pair)
PARTICIPANTS = Rows(Participant, in_micros=("created_at",))
QUOTAS = Rows(Quota)
HOSTS = Rows(Host)
SUMMARIES = Rows(Summary, in_micros=("at",))
EVENTS = Rows(Event, in_micros=("at",))
CORE: dict[str, Rows[Any]] = {
    "registry": PARTICIPANTS,
    "conversations": CONVERSATIONS,
    "members": MEMBERS,
    "messages": MESSAGES,
    "revisions": REVISIONS,
    "turns": TURNS,
    "rounds": ROUNDS,
    "roots": ROOTS,
    "pairs": PAIRS,
    "quotas": QUOTAS,
    "hosts": HOSTS,
    "summaries": SUMMARIES,
    "events": EVENTS,
}
"""By the name under which both engines read (sql/sound.sql) and move them (transfer.py), in the order of a move."""
RECORDS: dict[str, Rows[Any]] = {table.name: Rows(table.of, table.in_micros) for table in TABLES}
"""By the name of their table."""
