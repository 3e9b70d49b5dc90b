"""Where a key comes from: the environment, else keys.json in the home. It is never shown, logged or put into a text.

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
"""Names people have already. Other hosts have `HOST_NAME_API_KEY`."""

_KEY: Final = re.compile(r"[\x21-\x7e]{1,4096}")
_HOLDER: Final = re.compile(r"[a-z0-9][a-z0-9.\-]{0,252}(:\d{1,5})?|\[[0-9a-f:.]+\](:\d{1,5})?")
_SHOWN: Final = 4
_LONG_ENOUGH_TO_SHOW: Final = 12
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_MOST_BYTES: Final = 1 << 20

Source = Literal["environment", "keys.json"]


class Secret:
    """A key. Only `reveal` gives it away; everything that is printed or logged says `***`."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """For the one place that sends it."""
        return self._value

    @property
    def ending(self) -> str:
        """What people tell keys apart by."""
        return f"…{self._value[-_SHOWN:]}" if len(self._value) >= _LONG_ENOUGH_TO_SHOW else "…"

    def hide_in(self, text: str) -> str:
        return text.replace(self._value, HIDDEN) if self._value else text

    def __repr__(self) -> str:
        return HIDDEN

    __str__ = __repr__

    def __format__(self, _: str) -> str:
        return HIDDEN

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not written anywhere")


class Held(Struct, frozen=True):
    """A key with where it was found."""

    holder: str
    source: Source
    variable: str
    """Empty where it is from keys.json."""
    key: Secret


class KeyRing:
    """Reads anew each time it is asked: a key that was just set is found."""

    def __init__(self, environ: Mapping[str, str], path: Path) -> None:
        self._environ = environ
        self._path = path

    @property
    def path(self) -> Path:
        return self._path

    def find(self, holder: str) -> Held | None:
        """The environment wins."""
        for variable in variables(holder):
            value = self._environ.get(variable, "").strip()
            if value:
                return Held(holder, "environment", variable, Secret(_fit(value, variable)))
        stored = self._read().get(holder)
        if stored is None:
            return None
        return Held(holder, "keys.json", "", Secret(_fit(stored, f"{self._path}: {holder}")))

    def need(self, holder: str, who: str = "") -> Held:
        """The key, or an error that names both ways to give one."""
        found = self.find(holder)
        if found is not None:
            return found
        wants = f"{who} uses {holder}" if who else f"{holder} needs a key"
        raise NoKey(
            f"{wants}, but no key is set",
            detail=f"looked at {' and '.join(variables(holder))} in the environment and in {self._path}",
            fix=(Hint(Act.SET_KEY, provider=holder), f"export {variables(holder)[0]}=…"),
            holder=holder,
        )

    def all(self) -> list[Held]:
        """Every key there is, for showing; one that the environment overrides is not listed twice."""
        known = dict.fromkeys([ANTHROPIC, OPENAI, *(h for h in VARIABLES if "." in h), *self._read()])
        found = [held for held in map(self.find, known) if held is not None]
        aliases = {"api.anthropic.com": ANTHROPIC, "api.openai.com": OPENAI}
        return [held for held in found if not (held.variable and held.holder in aliases)]

    def store(self, holder: str, value: str) -> Held:
        holder, key = as_holder(holder), _fit(value.strip(), "the key")
        self._write({**self._read(), holder: key})
        return Held(holder, "keys.json", "", Secret(key))

    def remove(self, holder: str) -> bool:
        """From keys.json; False where it is not there."""
        holder = as_holder(holder)
        kept = self._read()
        if kept.pop(holder, None) is None:
            return False
        self._write(kept)
        return True

    def _read(self) -> dict[str, str]:
        try:
            with files.opened(self._path) as file:
                self._refuse_if_open_to_others(os.fstat(file))
                raw = os.read(file, _MOST_BYTES)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise self._broken(f"cannot be read: {files.why(error)}") from None
        try:
            parsed: object = json.loads(raw)
        except ValueError:
            parsed = None  # the parser's own words would repeat what stands there
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
        """Whole or not at all, and never readable by others, not even for a moment."""
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
    """This machine or its own network: model servers there want no key unless one is set for them."""
    with contextlib.suppress(ValueError):
        address = ipaddress.ip_address(host)
        return address.is_loopback or address.is_private or address.is_link_local
    return (
        host == "localhost" or "." not in host or host.endswith((".local", ".lan", ".internal", ".localhost"))
    )


def _fit(value: str, where: str) -> str:
    """A key goes into a header: one that cannot be there would be shown by whoever complains about it."""
    if not _KEY.fullmatch(value):
        raise BadValue(
            f"{where} is not a key",
            detail="expected up to 4096 visible ASCII characters, without spaces or line breaks",
        )
    return value
