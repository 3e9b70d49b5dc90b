"""JSON whose texts and numbers keep their spelling when they are written again: `1.10` stays `1.10`.

They are read as strings and numbers that carry their spelling; new values have none, and are spelled as usual.
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
        super().__init__(parse_int=_int, parse_float=_float, parse_constant=_float)
        self.parse_string = _text
        self.scan_once = scanner.py_make_scanner(self)  # type: ignore[attr-defined]  # the one that asks


def _text(source: str, start: int, strict: bool) -> tuple[SpelledText, int]:
    value, end = decoder.scanstring(source, start, strict)  # type: ignore[attr-defined]
    text = SpelledText(value)
    text.spelling = source[start - 1 : end]
    return text, end


def _int(spelling: str) -> SpelledInt:
    value = SpelledInt(spelling)
    value.spelling = spelling
    return value


def _float(spelling: str) -> SpelledFloat:
    value = SpelledFloat(spelling)
    value.spelling = spelling
    return value


def loads(text: str) -> object:
    return json.loads(text, cls=_Decoder)


def dumps(value: object, indent: str, inside: str = "") -> str:
    """Each item on a line of its own."""
    deeper = inside + indent
    if isinstance(value, dict) and value:
        items = [f"{deeper}{_quote(key)}: {dumps(item, indent, deeper)}" for key, item in value.items()]
        return "{\n" + ",\n".join(items) + f"\n{inside}}}"
    if isinstance(value, list | tuple) and value:
        items = [f"{deeper}{dumps(item, indent, deeper)}" for item in value]
        return "[\n" + ",\n".join(items) + f"\n{inside}]"
    if isinstance(value, SpelledText | SpelledInt | SpelledFloat):
        return value.spelling
    return _quote(value) if isinstance(value, str) else json.dumps(value)


def _quote(text: str) -> str:
    """A text that no file can hold as it is (half of a surrogate pair) is escaped."""
    quoted = json.dumps(text, ensure_ascii=False)
    return quoted if _is_storable(quoted) else json.dumps(text)


def _is_storable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
