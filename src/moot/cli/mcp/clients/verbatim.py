"""JSON whose texts and numbers are written again as they stood: `1.10` stays `1.10`, and `"\\u00e9"` itself.

Read, they are plain strings and numbers that carry their spelling; what is put in beside them has none, and gets the
usual one.
"""

import json
from json import decoder, scanner


class SpelledText(str):
    __slots__ = ("spelling",)
    spelling: str


class SpelledInt(int):
    spelling: str


class SpelledFloat(float):
    __slots__ = ("spelling",)
    spelling: str


class _Decoder(decoder.JSONDecoder):
    def __init__(self) -> None:
        super().__init__(parse_int=_whole, parse_float=_broken, parse_constant=_broken)
        self.parse_string = _text
        self.scan_once = scanner.py_make_scanner(self)  # type: ignore[attr-defined]  # the one that asks


def _text(source: str, start: int, strict: bool) -> tuple[SpelledText, int]:
    value, end = decoder.scanstring(source, start, strict)  # type: ignore[attr-defined]
    found = SpelledText(value)
    found.spelling = source[start - 1 : end]
    return found, end


def _whole(spelling: str) -> SpelledInt:
    found = SpelledInt(spelling)
    found.spelling = spelling
    return found


def _broken(spelling: str) -> SpelledFloat:
    found = SpelledFloat(spelling)
    found.spelling = spelling
    return found


def loads(text: str) -> object:
    return json.loads(text, cls=_Decoder)


def dumps(value: object, indent: str, inside: str = "") -> str:
    """Each item on a line of its own."""
    deeper = inside + indent
    if isinstance(value, dict) and value:
        items = [f"{deeper}{_quoted(key)}: {dumps(item, indent, deeper)}" for key, item in value.items()]
        return "{\n" + ",\n".join(items) + f"\n{inside}}}"
    if isinstance(value, list | tuple) and value:
        items = [f"{deeper}{dumps(item, indent, deeper)}" for item in value]
        return "[\n" + ",\n".join(items) + f"\n{inside}]"
    if isinstance(value, SpelledText | SpelledInt | SpelledFloat):
        return value.spelling
    return _quoted(value) if isinstance(value, str) else json.dumps(value)


def _quoted(text: str) -> str:
    """A text that no file can hold as it is (half of a surrogate pair) is escaped."""
    quoted = json.dumps(text, ensure_ascii=False)
    return quoted if _is_storable(quoted) else json.dumps(text)


def _is_storable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
