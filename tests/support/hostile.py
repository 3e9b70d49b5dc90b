"""What nobody in their right mind sends: texts, values and JSON documents to try on every route, tool and frame.

A door's tests say what a document of theirs looks like (its fields, and one good value for each); the corpus does the
rest. All of it is made anew in the same order each time.

    for name, raw in documents({"text": "hello", "force": []}):
        await send(raw)
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

DEEP = 100_000
DIGITS = 5_000
MEGABYTE = 1024 * 1024

TEXTS: tuple[str, ...] = (
    "", " ", ".", "..", "../../etc/passwd", "%", "%00", "a\0b", "\n", "\r\nX: y", "'", '"', "' OR 1=1 --",
    "); DROP TABLE messages; --", "1; SELECT load_extension('x')", "%' ESCAPE '\\", "\u202eevil", "\u200b",
    "\ufeff", "e\u0301", "\U0001f980" * 50, "\U000e0001", "\ufffe", "\x1b[2J", "\x7f", "x" * 5000, "@" * 3000,
    "@arya " * 400, "null", "true", "-1", "0", "00", "9" * 40, str(2**63), "1e309", "NaN", "Infinity", "0x10", "²",
    "٣", "room", "system", "human", "all", "user:1", ":", "a:b:c", "{{7*7}}", "${HOME}", "${jndi:ldap://x}",
    "%(asctime)s", "{0.__class__}", "<script>alert(1)</script>", "*", "[", "(", "NEAR(a b)", '"unclosed',
    "a* OR b^2", "content : x", "from:", "in:nowhere", "after:soon", "kind:x", 'from:"', "ǆ", "ﬀ", "İ", "[PASS]",
    "/etc/passwd", "file:///etc/passwd", "C:\\x", "CON", "🧨" * 2000,
)  # fmt: skip
"""Strings that can be sent as JSON, or quoted in a URL."""

VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, -(2**63), 2**63, 2**64, 10**40, 1.5, -0.0, 1e308, 5e-324, [], {}, [[]], [None], [{}],
    ["x"] * 500, [["x"] * 50] * 50, {"a": {"b": {}}}, {"": ""}, {"__proto__": {"x": 1}}, {"$ref": "#"}, *TEXTS,
)  # fmt: skip
"""Whatever JSON can say."""

NUMBERS: tuple[bytes, ...] = (
    b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999", b"0x10", b"01", b"+1", b"1.", b".5", b"1e", b"9" * DIGITS,
    b"0." + b"9" * DIGITS, b"1e" + b"9" * 400, b"-9223372036854775809",
)  # fmt: skip
"""Numbers that are none, or too many."""

STRINGS: tuple[bytes, ...] = (
    b'"\\ud800"', b'"\\udc00\\ud800"', b'"\\ud800x"', b'"\\u0000"', b'"\\x41"', b'"\\u12"', b'"a\nb"', b'"\x01"',
    b'"unclosed', b"'single'", b'"\xff"', b'"\xc0\xaf"', b'"\xed\xa0\x80"', b'"\xf4\x90\x80\x80"',
    b'"\xe2\x28\xa1"', b'"\xf8\x88\x80\x80\x80"', b'"\xc3"', b"\xef\xbb\xbf\"bom\"", b"undefined", b"tru", b"nul",
)  # fmt: skip
"""Strings that are not, or are not valid UTF-8."""

WHOLE: tuple[tuple[str, bytes], ...] = (
    ("nothing", b""), ("white space", b" \n\t"), ("null", b"null"), ("true", b"true"), ("a number", b"0"),
    ("a string", b'"x"'), ("a list", b"[]"), ("an open object", b"{"), ("an open list", b"["),
    ("a closed object", b"}"), ("a comma", b'{"a":1,}'), ("two documents", b"{}{}"), ("a comment", b"{/* */}"),
    ("nul", b"\0"), ("nul behind", b"{}\0"), ("bom", b"\xef\xbb\xbf{}"), ("utf-16", '{"a":1}'.encode("utf-16")),
    ("utf-32", b"{\0\0\0}\0\0\0"), ("latin-1", b'{"\xe9":1}'), ("bytes", bytes(range(256))),
    ("gzip", b"\x1f\x8b\x08\x00" + b"\0" * 20), ("xml", b"<?xml version='1.0'?><x/>"),
    ("form", b"text=hello&force=x"), ("pickle", b"\x80\x04\x95\x0b."),
    ("yaml", b"!!python/object/apply:os.system ['true']"), ("deep lists", b"[" * DEEP),
    ("deep lists, closed", b"[" * DEEP + b"]" * DEEP), ("deep objects", b'{"a":' * DEEP),
    ("deep objects, closed", b'{"a":' * 5000 + b"1" + b"}" * 5000),
    ("a long string", b'"' + b"x" * MEGABYTE + b'"'),
    ("many keys", b"{" + b",".join(b'"k%d":1' % n for n in range(20_000)) + b"}"),
    ("one key many times", b"{" + b",".join([b'"a":1'] * 20_000) + b"}"),
)  # fmt: skip
"""Whole documents, whatever was expected."""


def encoded(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def documents(good: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Every way to spoil an object of these fields: each value in each field, none of a field, one too many."""
    yield from WHOLE
    for field in good:
        for n, value in enumerate(VALUES):
            yield f"{field} = value {n}", encoded({**good, field: value})
        rest = encoded({name: value for name, value in good.items() if name != field})
        yield f"without {field}", rest
        yield f"{field} twice", encoded(good)[:-1] + b"," + encoded({field: "other"})[1:]
        yield f"{field}, deep lists", _with(good, field, b"[" * 2000 + b"]" * 2000)
        yield f"{field}, deep objects", _with(good, field, b'{"a":' * 2000 + b"1" + b"}" * 2000)
        for n, raw in enumerate((*NUMBERS, *STRINGS)):
            yield f"{field} = raw {n}", _with(good, field, raw)
    for extra in ("sender", "from", "__class__", "", "\u0000", "constructor"):
        yield f"extra {extra!a}", encoded({**good, extra: "x"})


def _with(good: Mapping[str, Any], field: str, raw: bytes) -> bytes:
    """The object with these very bytes as one of its values."""
    parts = [
        encoded(name) + b":" + (raw if name == field else encoded(value)) for name, value in good.items()
    ]
    return b"{" + b",".join(parts) + b"}"
