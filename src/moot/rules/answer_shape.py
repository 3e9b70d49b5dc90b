"""What an answer has to look like: a small part of JSON Schema, and whether a text fits it.

Whoever asks or delegates may say it; an answer that does not fit is told to whoever gave it once, and then to whoever
asked (flow/finish.py). Texts come from agents and shapes too, so nothing here follows a reference, runs a pattern or
takes long: what is not in `KEYWORDS` is refused when it is asked (decision 22).

Above: hub/commands checks a shape before it is asked, flow/finish.py and update_task.py hold answers against it.
"""

import re
from collections.abc import Callable
from typing import Final

import msgspec

from moot.errors import BadValue
from moot.model.json import Json, JsonObject


def _is_whole(value: Json) -> bool:
    return not isinstance(value, bool) and (
        isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    )


MAX_BYTES: Final = 4000
MAX_DEPTH: Final = 16
SHOWN: Final = 80
"""Characters of a value that a sentence repeats."""
TYPES: Final[dict[str, Callable[[Json], bool]]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": _is_whole,
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}
BOUNDS: Final = {
    "minimum": "a number",
    "maximum": "a number",
    "minLength": "a whole number",
    "maxLength": "a whole number",
    "minItems": "a whole number",
    "maxItems": "a whole number",
}
SHAPE: Final = "shape"
"""In the metadata of a question or a task."""
TAKES: Final = {
    "type": f"a type or a list of types: {', '.join(TYPES)}",
    "properties": "an object of shapes by name",
    "required": "a list of names",
    "additionalProperties": "true or false",
    "enum": "a list of values",
}
NOTES: Final = frozenset({"title", "description"})
KEYWORDS: Final = (
    *("type", "properties", "required", "additionalProperties", "items", "enum", "const"),
    *BOUNDS,
    *sorted(NOTES),
)
_FENCE: Final = re.compile(r"\A```[a-zA-Z]*[ \t]*\n(.*)\n```\Z", re.DOTALL)


# --- what may be asked for -------------------------------------------------------------------------------------


def one_of(choices: tuple[str, ...]) -> JsonObject:
    return {"enum": list(choices)}


def checked(shape: Json) -> str:
    """A shape as text, as it is kept; refused where an answer could never be held against it."""
    if not isinstance(shape, dict) or not shape:
        raise _bad("a shape is a JSON object", "it is a JSON Schema, such as a type or an enum")
    _check(shape, "shape", MAX_DEPTH)
    text = msgspec.json.encode(shape).decode()
    if len(text.encode()) > MAX_BYTES:
        raise _bad("this shape is too long", f"expected at most {MAX_BYTES} bytes of JSON")
    return text


def read(text: str) -> JsonObject:
    """Read a shape that is stored as JSON."""
    try:
        return msgspec.json.decode(text, type=JsonObject)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as broken:
        raise _bad("the shape is not a JSON object", str(broken)) from None


def _check(shape: Json, at: str, depth: int) -> None:
    if not isinstance(shape, dict):
        raise _bad(f"{at} is not a JSON object", "each part of a shape is a JSON Schema of its own")
    if not depth:
        raise _bad("this shape is too deep", f"expected at most {MAX_DEPTH} levels")
    for word, value in shape.items():
        if word not in KEYWORDS:
            raise _bad(f'{at} has "{word}"', f"known are {', '.join(KEYWORDS)}")
        problem = _problem_of(word, value)
        if problem:
            raise _bad(f"{at}.{word} cannot be used", f"expected {problem}")
    properties = shape.get("properties", {})
    for name, part in properties.items():
        _check(part, f"{at}.properties.{name}", depth - 1)
    if "items" in shape:
        _check(shape["items"], f"{at}.items", depth - 1)


def _problem_of(word: str, value: Json) -> str:
    """What a keyword should have had for its value; empty where it is right."""
    if word in BOUNDS:
        return "" if TYPES["number" if BOUNDS[word] == "a number" else "integer"](value) else BOUNDS[word]
    right = {
        "type": lambda: all(each in TYPES for each in _types(value)),
        "properties": lambda: isinstance(value, dict),
        "required": lambda: _is_texts(value),
        "additionalProperties": lambda: isinstance(value, bool),
        "enum": lambda: isinstance(value, list) and bool(value),
    }
    return "" if word not in right or right[word]() else TAKES[word]


def _types(value: Json) -> list[str]:
    if isinstance(value, list) and value:
        return [each if isinstance(each, str) else "" for each in value]
    return [value] if isinstance(value, str) else [""]


def _is_texts(value: Json) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _bad(title: str, detail: str) -> BadValue:
    return BadValue(title, detail=detail)


# --- whether an answer fits ------------------------------------------------------------------------------------


class Misfit(Exception):
    """Why a text is not what was asked for."""


def answer(shape: str, text: str) -> Json:
    """What a text means under a shape; `Misfit` where it does not fit."""
    wanted = msgspec.json.decode(shape)
    words = text.strip()
    fenced = _FENCE.match(words)
    words = fenced[1].strip() if fenced is not None else words
    value = _as_text(wanted, words) if _wants_text(wanted) else _as_json(words)
    _hold(wanted, value, "the answer")
    return value


def in_words(shape: str) -> str:
    """What is expected, in words for whoever has to answer."""
    wanted = msgspec.json.decode(shape)
    if _wants_text(wanted) and "enum" in wanted:
        return f"one of {', '.join(map(str, wanted['enum']))}, and nothing else"
    if _wants_text(wanted):
        return f"a text that fits {shape}"
    return f"JSON, and nothing else, that fits {shape}"


def asking(text: str, metadata: JsonObject) -> str:
    """A question or a task as its agent reads it: with what is expected, where that was said."""
    shape = metadata.get(SHAPE)
    if not isinstance(shape, dict):
        return text
    try:
        expected = in_words(msgspec.json.encode(shape).decode())
    except (TypeError, ValueError, RecursionError):  # as a file brought it along
        return text
    return f"{text}\n\n(The answer has to be {expected}.)"


def _wants_text(wanted: JsonObject) -> bool:
    """Whether the words themselves are the answer, rather than JSON in them."""
    if "type" in wanted:
        return _types(wanted["type"]) == ["string"]
    values = wanted.get("enum", [wanted["const"]] if "const" in wanted else [])
    return bool(values) and all(isinstance(value, str) for value in values)


def _as_text(wanted: JsonObject, words: str) -> str:
    """The words, or the value they mean: case, quotes and a full stop do not make another one."""
    values = wanted.get("enum", [wanted["const"]] if "const" in wanted else [])
    by_lower_case = {value.casefold(): value for value in values if isinstance(value, str)}
    bare = words.strip("\"'`*").casefold()
    return (
        by_lower_case.get(words.casefold())
        or by_lower_case.get(bare)
        or by_lower_case.get(bare.removesuffix("."))
        or words
    )


def _as_json(words: str) -> Json:
    try:
        found: Json = msgspec.json.decode(words)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as broken:
        raise Misfit(f"it is not JSON: {broken}") from None
    return found


def _hold(wanted: JsonObject, value: Json, at: str) -> None:
    if "type" in wanted:
        types = _types(wanted["type"])
        if not any(TYPES[each](value) for each in types):
            raise Misfit(f"{at} is {_kind(value)}, and not {' or '.join(types)}")
    if "enum" in wanted and not any(_same(value, each) for each in wanted["enum"]):
        raise Misfit(f"{at} is {_short(value)}, and not one of {_short(wanted['enum'])}")
    if "const" in wanted and not _same(value, wanted["const"]):
        raise Misfit(f"{at} is {_short(value)}, and not {_short(wanted['const'])}")
    _hold_bounds(wanted, value, at)
    if isinstance(value, dict):
        _hold_object(wanted, value, at)
    if isinstance(value, list) and "items" in wanted:
        for number, each in enumerate(value):
            _hold(wanted["items"], each, f"{at}[{number}]")


def _hold_object(wanted: JsonObject, value: JsonObject, at: str) -> None:
    properties = wanted.get("properties", {})
    missing = [name for name in wanted.get("required", ()) if name not in value]
    if missing:
        raise Misfit(f"{at} has no {', '.join(missing)}")
    beyond = [name for name in value if name not in properties]
    if beyond and wanted.get("additionalProperties") is False:
        raise Misfit(f"{at} has {_short(beyond[0])}, which was not asked for")
    for name, part in properties.items():
        if name in value:
            _hold(part, value[name], f"{at}.{name}")


def _hold_bounds(wanted: JsonObject, value: Json, at: str) -> None:
    sizes = {"Length": isinstance(value, str), "Items": isinstance(value, list)}
    for ending, applies in sizes.items():
        if applies and not wanted.get(f"min{ending}", 0) <= len(value) <= wanted.get(
            f"max{ending}", len(value)
        ):
            raise Misfit(f"{at} has {len(value)} {'characters' if ending == 'Length' else 'items'}")
    if TYPES["number"](value) and not wanted.get("minimum", value) <= value <= wanted.get("maximum", value):
        raise Misfit(f"{at} is {_short(value)}, which is out of range")


def _same(one: Json, other: Json) -> bool:
    """True is not 1, whatever Python says."""
    return isinstance(one, bool) is isinstance(other, bool) and one == other


def _kind(value: Json) -> str:
    return next(name for name, is_it in TYPES.items() if is_it(value))


def _short(value: Json) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
