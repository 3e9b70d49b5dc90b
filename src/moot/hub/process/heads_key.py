"""The key that signs `audit/heads.jsonl`: whoever alters a line without it is found.

It is made when heads are first written, in the home or where `hub.audit_key` says: elsewhere, it does not go with a
copy of the home, and who can write the home need not be able to read it. Above: heads_export.py, hub/audit.py. Not
here: what is signed (heads_file.py).
"""

import secrets
from hashlib import sha256
from hmac import compare_digest, new
from pathlib import Path
from typing import Final

from moot import files
from moot.settings import Home

NAME: Final = "heads.key"
LETTERS: Final = 64
MAX_BYTES: Final = 1024


class HeadsKey:
    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def sign(self, line: bytes) -> str:
        return new(self._secret, line, sha256).hexdigest()

    def has_signed(self, line: bytes, signature: str) -> bool:
        return compare_digest(self.sign(line).encode(), signature.encode())


def place_of(home: Home, chosen: str) -> Path:
    return home.folder(chosen) if chosen else home.audit / NAME


def read(path: Path) -> HeadsKey | None:
    """The key, if there is one."""
    try:
        return HeadsKey(files.read(path, MAX_BYTES).strip())
    except FileNotFoundError:
        return None


def make(path: Path) -> HeadsKey:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    files.create_below(path.parent, (path.name,), secrets.token_hex(LETTERS // 2).encode() + b"\n")
    key = read(path)
    assert key is not None, "it was just written"
    return key
