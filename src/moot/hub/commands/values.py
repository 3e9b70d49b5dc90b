"""What callers may set at run time takes the same values as in moot.toml, and is refused in the same words."""

from collections.abc import Mapping

import msgspec

from moot.errors import BadValue
from moot.model.conversation import ConversationKind, GroupOverrides, GroupSettings
from moot.model.json import JsonObject
from moot.settings import AgentSettings, Home
from moot.settings.problems import as_toml
from moot.settings.schema.fields import FACTS


def overrides(settings: JsonObject) -> GroupOverrides:
    """The settings of one conversation; the error names the key and what it takes."""
    chosen = {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in settings.items()
    }  # JSON has one kind of number: 3.0 is a 3
    facts = FACTS[GroupSettings]
    for name, value in chosen.items():
        if value is not None and name in facts and not facts[name].takes.fits(value):
            raise BadValue(f"{name} = {as_toml(value)} is not {facts[name].takes.phrase}")
    try:
        return msgspec.convert(chosen, GroupOverrides)
    except msgspec.ValidationError as problem:
        raise BadValue(
            f"invalid settings: {problem}",
            detail=f"settings are {', '.join(GroupOverrides.__struct_fields__)}",
        ) from problem


def check_described(**fields: str | None) -> None:
    """How a participant is described: role, display name and project. Empty means none."""
    facts = FACTS[AgentSettings]
    for name, value in fields.items():
        if value and not facts[name].takes.fits(value):
            raise BadValue(f"{name} = {as_toml(value)} is not {facts[name].takes.phrase}")


def check_project(home: Home, project: str | None) -> None:
    """A project is apart from the home, or what works there could change who an agent is."""
    if project and (how := home.overlaps(home.folder(project))):
        raise BadValue(f"project = {as_toml(project)} {how}", detail="expected a folder outside it")


def kind_of_conversation(kind: str) -> ConversationKind:
    try:
        return ConversationKind(kind)
    except ValueError:
        raise BadValue(
            f'unknown kind of conversation "{kind}"',
            detail=f"kinds are {', '.join(item.value for item in ConversationKind)}",
        ) from None


def point(name: str, place: Mapping[str, float]) -> tuple[float, float]:
    """Where to put somebody on the map."""
    try:
        return float(place["x"]), float(place["y"])
    except (KeyError, TypeError, ValueError):
        raise BadValue(
            f"invalid position for {name}: {as_toml(place)}", detail="expected x and y, two numbers"
        ) from None
