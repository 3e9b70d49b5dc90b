"""An entry of the audit as a sentence: who did what to what, through which door."""

from collections.abc import Callable
from typing import Final

from moot.model.entrance import DoorName
from moot.model.ids import SYSTEM, ParticipantId
from moot.model.records.audit import AuditedAct as Did
from moot.model.records.audit import AuditEntry

Names = Callable[[ParticipantId], str]

SENTENCES: Final[dict[Did, str]] = {
    Did.ACCOUNT_LINKED: "linked the account {it} ({shown}) to {participant}",
    Did.ACCOUNT_UNLINKED: "unlinked the account {it} ({shown})",
    Did.AGENT_CREATED: "added {it}",
    Did.AGENT_EDITED: "changed {it}",
    Did.AGENT_PAUSED: "paused {it}",
    Did.AGENT_REMOVED: "removed {it}",
    Did.AGENT_RENAMED: "renamed {previous_name} to {name}",
    Did.AGENT_RESUMED: "resumed {it}",
    Did.AGENT_RETIRED: "retired {it}: {reason}",
    Did.AGENT_SPAWNED: "started {it} from the template {template}",
    Did.AUDIT_BEGAN: "began the audit",
    Did.CHAT_PAIRED: "paired the chat {it} ({title})",
    Did.CHAT_UNPAIRED: "unpaired the chat {it} ({title})",
    Did.CODE_ISSUED: "issued a pairing code for {bridge}",
    Did.CONFIG_REFUSED: "refused moot.toml ({code})",
    Did.CONFIG_RELOADED: "read moot.toml again",
    Did.CONVERSATION_ARCHIVED: "archived {name} ({it})",
    Did.CONVERSATION_CONFIGURED: "changed the settings of {name} ({it})",
    Did.CONVERSATION_CONTINUED: "let agents continue in {name} ({it})",
    Did.CONVERSATION_IMPORTED: "imported {name} ({it}, {messages} messages)",
    Did.CONVERSATION_JOINED: "added {participant} to {name} ({it})",
    Did.CONVERSATION_LEFT: "removed {participant} from {name} ({it})",
    Did.CONVERSATION_PURGED: "erased {name} ({it}, {messages} messages)",
    Did.CONVERSATION_UNARCHIVED: "unarchived {name} ({it})",
    Did.DECISION_ANSWERED: "answered decision {it} of {asked_by}",
    Did.DECISION_USED: "did what decision {it} allowed once",
    Did.LIMIT_RESET: "reset the limit of {from} to {to}",
    Did.LINK_ADOPTED: "took over the link of {from} and {to} ({sentence})",
    Did.LINK_CHANGED: "changed the link of {from} and {to} ({sentence})",
    Did.LINK_CREATED: "linked {from} and {to} ({sentence})",
    Did.LINK_DELETED: "deleted the link of {from} and {to} ({sentence})",
    Did.NOTE_DELETED: "deleted the note {note} ({versions} versions)",
    Did.NOTE_SHARED: "shared the note {note} with {agent}: {access}",
    Did.OWNER_ACTED_AS: "spoke for {as}: {what}",
    Did.PERMISSION_ADOPTED: "took over the share of the note {note} with {agent}: {access}",
    Did.POST_MOVED: "decided about the unsent post {it}: {state}",
    Did.POLICY_SET: "set the policy to {policy}",
    Did.REFUSED: "was refused: {what} to {to} ({code} {rule})",
    Did.SIGN_IN_OFFERED: "made a link with which {participant} can sign in ({it})",
    Did.SIGNED_IN: "signed in to the page ({it})",
    Did.TASK_ADOPTED: "took over task {it} ({state})",
    Did.TASK_CHANGED: "changed task {it} of {by} for {to}: {state}",
    Did.TASK_CREATED: "delegated task {it} to {to}",
    Did.TASK_ENDED: "ended task {it} of {by} for {to}: {state}",
    Did.TOKEN_ISSUED: "issued token {it} for {participant}",
    Did.TOKEN_REVOKED: "revoked token {it} of {participant}",
}
PEOPLE: Final = frozenset({"agent", "as", "asked_by", "by", "from", "participant", "to"})
"""Keys of an entry's detail whose values are participants."""


OF_THE_FILE: Final = frozenset({Did.CONFIG_REFUSED, Did.CONFIG_RELOADED})
"""Acts of the hub on moot.toml; other acts through it are the file's own."""


class _Words(dict[str, str]):
    """Values for a sentence; what an entry lacks is left out."""

    def __missing__(self, key: str) -> str:
        return ""


def sentence(entry: AuditEntry, names: Names) -> str:
    it = entry.subject.partition(" ")[2]
    words = _Words(it=name_of(it, names) if entry.subject.startswith("agent ") else it)
    for key, value in entry.detail.items():
        words[key] = name_of(value, names) if key in PEOPLE and isinstance(value, str) else str(value)
    what = SENTENCES[entry.act].format_map(words).replace(" )", ")")
    times = f", {entry.count} times" if entry.count > 1 else ""
    return f"{_actor(entry, names)} {what} by {entry.door.value}{times}"


def _actor(entry: AuditEntry, names: Names) -> str:
    if entry.door is DoorName.CONFIG:  # its owner did not type it
        return "Moot" if entry.act in OF_THE_FILE else "moot.toml"
    if entry.by == SYSTEM:
        return "Moot"
    by = name_of(entry.by, names)
    return f"{by} for {name_of(entry.on_behalf_of, names)}" if entry.on_behalf_of else by


def name_of(participant_id: str, names: Names) -> str:
    """A participant's name; anything that is not an id stays as it is."""
    return names(ParticipantId(participant_id))
