"""Answers a shell that completes a command line: verbs and options from tree.json, names from the home.

A person waits for this at every key, so it imports next to nothing: neither click nor the hub. It answers in click's
format, to the scripts that click made (`moot completion bash`). It reads the database while others write to it, by
columns that docs/reference/database.md promises; it creates nothing and never fails.
"""

import json
import os
import shlex
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from moot import peek
from moot.model.json import JsonObject

TREE: Final = Path(__file__).with_name("tree.json")


def main(environ: Mapping[str, str]) -> int:
    try:
        words, incomplete = typed_words(environ)
        completions = candidates(words, incomplete, environ)
        shell = environ["_MOOT_COMPLETE"].partition("_")[0]
        sys.stdout.write("".join(format_completion(shell, value, help) for value, help in completions))
    except Exception:  # an error must not appear in the middle of a person's line
        return 1
    return 0


def typed_words(environ: Mapping[str, str]) -> tuple[list[str], str]:
    """The words before the one that is completed, without `moot`, and the beginning of that one."""
    words = split(environ["COMP_WORDS"])
    if environ["_MOOT_COMPLETE"].startswith("fish"):
        incomplete = environ.get("COMP_CWORD", "")
        word = split(incomplete)[0] if incomplete else ""
        rest = words[1:]
        return (rest[:-1] if word and rest[-1:] == [word] else rest), word
    at = int(environ["COMP_CWORD"])
    return words[1:at], words[at] if at < len(words) else ""


def split(line: str) -> list[str]:
    """Split a line as a shell does; an open quote ends with the line."""
    lexer = shlex.shlex(line, posix=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    words: list[str] = []
    try:
        words.extend(lexer)
    except ValueError:
        words.append(lexer.token)
    return words


def format_completion(shell: str, value: str, help: str) -> str:
    kind = "file" if value == "\0file" else "plain"
    value = "" if kind == "file" else value
    match shell:
        case "zsh":
            return f"{kind}\n{value}\n{help or '_'}\n"
        case "fish":
            return f"{kind},{value}\t{help}\n" if help else f"{kind},{value}\n"
        case _:
            return f"{kind},{value}\n"


Completions = list[tuple[str, str]]


def candidates(words: list[str], incomplete: str, environ: Mapping[str, str]) -> Completions:
    tree: JsonObject = json.loads(TREE.read_bytes())
    here = TreePlace(tree)
    for word in words:
        here.pass_by(word)
    home = Path(os.path.expanduser(here.home or environ.get("MOOT_HOME") or "~/.moot"))
    return [
        (value, help)
        for value, help in here.next(incomplete, home)
        if value.startswith(incomplete) or value == "\0file"
    ]


class TreePlace:
    """How far the words lead into the tree."""

    def __init__(self, tree: JsonObject) -> None:
        self._tree = tree
        self._path = ""
        self._position = 0
        self._options: JsonObject = dict(tree["options"])
        self._value_of: str | None = None
        self._options_used: set[str] = set()
        self._only_words = False
        self.home = ""

    @property
    def _leaf(self) -> JsonObject | None:
        command: JsonObject | None = self._tree["commands"].get(self._path)
        return command

    def pass_by(self, word: str) -> None:
        if self._value_of is not None:
            self.home = word if self._value_of == "--home" else self.home
            self._value_of = None
        elif word == "--":
            self._only_words = True
        elif word.startswith("-") and not self._only_words:
            name, equals, value = word.partition("=")
            self._options_used.add(name)
            if name == "--home" and equals:
                self.home = value
            elif not equals and self._options.get(name) is not None:
                self._value_of = name
        elif self._leaf is not None:
            self._position += 1
        else:
            self._go_down(word)

    def _go_down(self, word: str) -> None:
        first = self._tree["aliases"].get(word, word) if not self._path else word
        self._path = f"{self._path} {first}".strip()
        if self._leaf is not None:
            self._options |= self._leaf["options"]

    def next(self, incomplete: str, home: Path) -> Iterable[tuple[str, str]]:
        if self._value_of is not None:
            return values(self._options[self._value_of], home)
        if incomplete.startswith("-") and not self._only_words:
            return [
                (name, "")
                for name in self._options
                if name.startswith("--") and name not in self._options_used
            ]
        if self._leaf is None:
            return self._verbs()
        return self._words(home)

    def _verbs(self) -> Completions:
        start = f"{self._path} " if self._path else ""
        verbs: dict[str, str] = {}
        for path, leaf in self._tree["commands"].items():
            if path.startswith(start):
                word, _, below = path[len(start) :].partition(" ")
                verbs.setdefault(
                    word, self._tree["branches"].get(f"{start}{word}", "") if below else leaf["help"]
                )
        return list(verbs.items())

    def _words(self, home: Path) -> Iterable[tuple[str, str]]:
        """Completions for the next word; the last kind repeats if it is marked so."""
        leaf = self._leaf or {}
        kinds: list[object] = leaf["words"]
        if self._only_words or self._options_used.intersection(leaf["text_after"]):
            return []
        if self._position < len(kinds):
            return values(kinds[self._position], home)
        return values(kinds[-1], home) if kinds and leaf["repeats"] else []


def values(kind: object, home: Path) -> Iterable[tuple[str, str]]:
    match kind:
        case list():
            return [(value, "") for value in kind]
        case "agent":
            return [(name, "") for name in dict.fromkeys((*peek.agent_names(home), *agents_in_toml(home)))]
        case "conversation":
            return [(name, "") for name in peek.conversation_names(home)]
        case "note":
            return [(name, "") for name in peek.note_names(home)]
        case "path":
            return [("\0file", "")]
        case _:
            return []


def agents_in_toml(home: Path) -> list[str]:
    """Agents that moot.toml names; they may not have been enrolled yet."""
    import tomllib  # noqa: PLC0415  not needed for verbs and options

    try:
        rows = tomllib.loads((home / "moot.toml").read_text(encoding="utf-8")).get("agents", [])
        return [str(row["name"]) for row in rows if "name" in row]
    except (OSError, ValueError, AttributeError, TypeError):
        return []
