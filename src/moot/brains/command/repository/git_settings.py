"""Settings of a repository that an agent may add, because git runs nothing for them and sends nothing elsewhere.

A list of what is harmless, not of what is dangerous: git has dozens of settings that name a program, and later versions
will have more. Above: git_guard.py. Below: git, which alone reads its files as git does.
"""

import re
import subprocess
from collections import Counter
from typing import Final, TypeAlias

GIT_SECONDS: Final = 20.0
Setting: TypeAlias = tuple[str, str]
"""Its name, section and key in small letters, and a value."""

PLAIN: Final = re.compile(
    r"core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf"
    r"|eol|safecrlf|quotepath|abbrev|compression|sparsecheckout|sparsecheckoutcone|sharedrepository)"
    r"|extensions\.(objectformat|worktreeconfig|partialclone)|user\.(name|email)|index\.(sparse|version)"
    r"|advice\.[a-z]+|color\.[a-z.]+|gc\.auto|fetch\.(prune|prunetags)|pull\.(ff|rebase)"
    r"|push\.(default|autosetupremote|followtags)|rebase\.(autosquash|autostash|updaterefs)|rerere\.enabled"
    r"|init\.defaultbranch|merge\.(conflictstyle|ff|renames)"
)
OF_NAMES: Final = re.compile(
    r"branch\.(?P<branch>.+)\.(remote|merge|rebase|pushremote|description)"
    r"|remote\.(?P<remote>.+)\.(url|pushurl|fetch|push|tagopt|prune|mirror|promisor|partialclonefilter)"
    r"|submodule\.(?P<submodule>.+)\.(url|active|branch|ignore)",
    re.DOTALL,
)
"""Harmless where the branch, remote or submodule is new: for one that is there, they say where a push goes."""
SUSPECT_VALUE: Final = re.compile(r"::|^\s*[-!]|[\n\r\0]")
"""A transport by a program (`ext::…`), an option, or a command in place of a name."""


def added_by_stealth(before: bytes, after: bytes) -> list[str]:
    """Names of the settings that are new or changed in a file of settings, and not harmless. A file that git cannot
    read counts as a whole."""
    old, new = _read(before), _read(after)
    if new is None:
        return ["what git cannot read"]
    old = old or []
    sections = {_section(name) for name, _ in old}
    added = Counter(new) - Counter(old)
    return sorted({name for name, value in added if not _is_harmless(name, value, sections)})


def _is_harmless(name: str, value: str, sections: set[str]) -> bool:
    if SUSPECT_VALUE.search(value):
        return False
    if OF_NAMES.fullmatch(name):
        return _section(name) not in sections
    return PLAIN.fullmatch(name) is not None


def _section(name: str) -> str:
    return name.rpartition(".")[0]


def _read(text: bytes) -> list[Setting] | None:
    """None where git cannot read it."""
    if not text.strip():
        return []
    words = ["git", "config", "--file", "-", "--no-includes", "--list", "--null"]
    try:
        done = subprocess.run(
            words, input=text, capture_output=True, timeout=GIT_SECONDS, check=True, cwd="/"
        )
    except (OSError, subprocess.SubprocessError):
        return None
    settings = done.stdout.decode(errors="surrogateescape").split("\0")[:-1]
    return [(name, value) for name, _, value in (setting.partition("\n") for setting in settings)]
