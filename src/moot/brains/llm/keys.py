"""Keys of model providers: from the environment, else from keys.json in the home. A key is never shown or logged.

Above: brain_string.py and `moot keys`. Below: nothing.
Not here: whether a provider accepts it.

A key belongs to a **holder**: `anthropic`, `openai`, or the host of an OpenAI-compatible server (`openrouter.ai`).
The key of one holder is never sent to another.
"""

import contextlib
import ipaddress
import json
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkstemp
from typing import Final, Literal, NoReturn
from urllib.parse import urlsplit

from msgspec import Struct

from moot import files
from moot.errors import BadSettings, BadValue, NoKey
from moot.model.hint import Act, Hint

HIDDEN: Final = "***"
ANTHROPIC: Final = "anthropic"
OPENAI: Final = "openai"

VARIABLES: Final[Mapping[str, str]] = {
    ANTHROPIC: "ANTHROPIC_API_KEY",
    OPENAI: "OPENAI_API_KEY",
    "api.anthropic.com": "ANTHROPIC_API_KEY",
    "api.openai.com": "OPENAI_API_KEY",
    "openrouter.ai": "OPENROUTER_API_KEY",
    "api.groq.com": "GROQ_API_KEY",
    "api.mistral.ai": "MISTRAL_API_KEY",
    "api.deepseek.com": "DEEPSEEK_API_KEY",
    "api.together.xyz": "TOGETHER_API_KEY",
    "generativelanguage.googleapis.com": "GEMINI_API_KEY",
}
"""Names that people use already. For other hosts it is `HOST_NAME_API_KEY`."""

_KEY: Final = re.compile(r"[\x21-\x7e]{1,4096}")
_HOLDER: Final = re.compile(r"[a-z0-9][a-z0-9.\-]{0,252}(:\d{1,5})?|\[[0-9a-f:.]+\](:\d{1,5})?")
_SHOWN_CHARACTERS: Final = 4
_LONG_ENOUGH_TO_SHOW: Final = 12
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_MAX_FILE_BYTES: Final = 1 << 20

Source = Literal["environment", "keys.json"]


class Secret:
    """A key. Only `reveal` returns it; anything printed or logged shows `***`."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Only for sending it to its provider."""
        return self._value

    @property
    def ending(self) -> str:
        """The last characters, by which people tell keys apart."""
        return f"…{self._value[-_SHOWN_CHARACTERS:]}" if len(self._value) >= _LONG_ENOUGH_TO_SHOW else "…"

    def hide_in(self, text: str) -> str:
        return text.replace(self._value, HIDDEN) if self._value else text

    def __repr__(self) -> str:
        return HIDDEN

    __str__ = __repr__

    def __format__(self, _: str) -> str:
        return HIDDEN

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not written anywhere")


class FoundKey(Struct, frozen=True):
    """A key, and where it was found."""

    holder: str
    source: Source
    variable: str
    """Empty if it is from keys.json."""
    key: Secret


class KeyRing:
    """Reads the file each time, so that a key that was just set is found."""

    def __init__(self, environ: Mapping[str, str], path: Path) -> None:
        self._environ = environ
        self._path = path

    @property
    def path(self) -> Path:
        return self._path

    def find(self, holder: str) -> FoundKey | None:
        """The environment wins."""
        for variable in variables(holder):
            value = self._environ.get(variable, "").strip()
            if value:
                return FoundKey(holder, "environment", variable, Secret(_check_key(value, variable)))
        stored = self._read().get(holder)
        if stored is None:
            return None
        return FoundKey(holder, "keys.json", "", Secret(_check_key(stored, f"{self._path}: {holder}")))

    def need(self, holder: str, used_by: str = "") -> FoundKey:
        """The key. Raises NoKey, which names both ways to set one."""
        key = self.find(holder)
        if key is not None:
            return key
        need_of = f"{used_by} uses {holder}" if used_by else f"{holder} needs a key"
        raise NoKey(
            f"{need_of}, but no key is set",
            detail=f"looked at {' and '.join(variables(holder))} in the environment and in {self._path}",
            fix=(Hint(Act.SET_KEY, provider=holder), f"export {variables(holder)[0]}=…"),
            holder=holder,
        )

    def all(self) -> list[FoundKey]:
        """All keys, for listing; one that the environment overrides is not listed twice."""
        holders = dict.fromkeys([ANTHROPIC, OPENAI, *(h for h in VARIABLES if "." in h), *self._read()])
        keys = [key for key in map(self.find, holders) if key is not None]
        aliases = {"api.anthropic.com": ANTHROPIC, "api.openai.com": OPENAI}
        return [key for key in keys if not (key.variable and key.holder in aliases)]

    def store(self, holder: str, value: str) -> FoundKey:
        holder, key = as_holder(holder), _check_key(value.strip(), "the key")
        self._write({**self._read(), holder: key})
        return FoundKey(holder, "keys.json", "", Secret(key))

    def remove(self, holder: str) -> bool:
        """From keys.json; False if it is not there."""
        holder = as_holder(holder)
        stored = self._read()
        if stored.pop(holder, None) is None:
            return False
        self._write(stored)
        return True

    def _read(self) -> dict[str, str]:
        try:
            with files.opened(self._path) as file:
                self._refuse_if_open_to_others(os.fstat(file))
                raw = os.read(file, _MAX_FILE_BYTES)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise self._broken(f"cannot be read: {files.why(error)}") from None
        try:
            parsed: object = json.loads(raw)
        except ValueError:
            parsed = None  # the parser's error would quote the file
        if not isinstance(parsed, dict) or not all(isinstance(value, str) for value in parsed.values()):
            raise self._broken('is not a JSON object of providers and keys, such as {"anthropic": "…"}')
        return parsed

    def _refuse_if_open_to_others(self, seen: os.stat_result) -> None:
        mode = stat.S_IMODE(seen.st_mode)
        if mode & _OTHERS:
            raise self._broken(
                f"can be read by other users (mode {mode:04o}); expected mode 0600", f"chmod 600 {self._path}"
            )
        if seen.st_uid != os.geteuid():
            raise self._broken("belongs to another user", f"ls -l {self._path}")

    def _write(self, keys: Mapping[str, str]) -> None:
        """Atomically, and never readable by others, not even for a moment."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = mkstemp(dir=self._path.parent, prefix=".keys-")  # made with mode 0600
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    json.dump(keys, file, indent=2, sort_keys=True)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(name, self._path)
            except BaseException:  # whatever stopped it, the half-written file must not stay
                with contextlib.suppress(OSError):
                    os.unlink(name)
                raise
        except OSError as error:
            raise self._broken(f"cannot be written: {error.strerror}") from None

    def _broken(self, words: str, *fix: str) -> BadSettings:
        return BadSettings(
            f"{self._path} {words}",
            fix=fix or (f"mv {self._path} {self._path}.old",),
            file=str(self._path),
            line=0,
            column=0,
            key="keys",
        )


def variables(holder: str) -> tuple[str, ...]:
    """Environment variables that may hold its key, the usual one first."""
    usual = (VARIABLES[holder],) if holder in VARIABLES else ()
    own = re.sub(r"[^A-Z0-9]+", "_", holder.upper()).strip("_") + "_API_KEY"
    return tuple(dict.fromkeys([*usual, own]))


def as_holder(typed: str) -> str:
    """`anthropic`, `openai`, or a host; of a URL its host."""
    name = typed.strip().lower()
    if "://" in name:
        name = urlsplit(name).netloc.rpartition("@")[2]
    if not _HOLDER.fullmatch(name):
        raise BadValue(
            f'unknown provider "{typed[:60]}"',
            detail="expected anthropic, openai, or the host of a compatible server, such as openrouter.ai",
            fix=(Hint(Act.SET_KEY, provider="anthropic"),),
        )
    return name


def is_near(host: str) -> bool:
    """This machine or its own network: model servers there need no key unless one is set for them."""
    with contextlib.suppress(ValueError):
        address = ipaddress.ip_address(host)
        return address.is_loopback or address.is_private or address.is_link_local
    return (
        host == "localhost" or "." not in host or host.endswith((".local", ".lan", ".internal", ".localhost"))
    )


def _check_key(value: str, where: str) -> str:
    """A key is sent in a header: the error about one that does not fit there would show it."""
    if not _KEY.fullmatch(value):
        raise BadValue(
            f"{where} is not a key",
            detail="expected up to 4096 visible ASCII characters, without spaces or line breaks",
        )
    return value
