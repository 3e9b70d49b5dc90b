"""The scopes of all commands of a batch, put together: what an engine has to load for them, each thing once."""

from collections import defaultdict
from collections.abc import Sequence

from moot.model.ids import ConversationId, ParticipantId, RootId, TurnId
from moot.model.records.record import AnyLookup
from moot.ports import Scope


class Wanted:
    """All that the commands of a batch ask for, each thing once."""

    __slots__ = (
        "everyone",
        "hosts",
        "ids",
        "keys",
        "messages",
        "names",
        "people_before",
        "records",
        "refs",
        "roots",
        "running_of",
        "turns",
    )

    def __init__(self, scopes: Sequence[Scope]) -> None:
        self.ids: set[ConversationId] = set()
        self.refs: set[str] = set()
        self.turns: set[TurnId] = set()
        self.names: set[str] = set()
        self.roots: set[RootId] = set()
        self.records: dict[tuple[str, str], dict[AnyLookup, None]] = {}
        """Lookups by table and kind, each once."""
        self.running_of: set[ParticipantId] = set()
        self.hosts = self.everyone = False
        self.messages: defaultdict[ConversationId, list[int]] = defaultdict(list)
        self.keys: defaultdict[ParticipantId, list[str]] = defaultdict(list)
        self.people_before: defaultdict[ConversationId, list[int]] = defaultdict(list)
        for scope in scopes:
            self.refs.update(scope.refs)
            self.names.update(scope.names)
            if scope.running_of is not None:
                self.running_of.add(scope.running_of)
            if scope.key is not None:
                author, key = scope.key
                self.keys[author].append(key)
            for where, seq in scope.people_before:
                self.people_before[where].append(seq)
        self._take_in_more(scopes)

    def _take_in_more(self, scopes: Sequence[Scope]) -> None:
        """Scopes' rarer parts, which posting a message does not use."""
        for scope in scopes:
            if scope.conversations:
                self.ids.update(scope.conversations)
            if scope.turns:
                self.turns.update(scope.turns)
            if scope.messages:
                for where, seq in scope.messages:
                    self.messages[where].append(seq)
            if scope.roots:
                self.roots.update(scope.roots)
            for lookup in scope.records:
                self.records.setdefault((lookup.table.name, lookup.by), {})[lookup] = None
            self.hosts = self.hosts or scope.hosts
            self.everyone = self.everyone or scope.everyone
