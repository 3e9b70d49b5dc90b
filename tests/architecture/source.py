"""Moot's own source, parsed once, for the tests that hold what a linter cannot."""

import ast
import io
import tokenize
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "moot"


@dataclass(frozen=True)
class Module:
    """One source file; `path` is relative to src/moot, with forward slashes."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @cached_property
    def comments(self) -> dict[int, str]:
        """Line number → the comment on it, without its hash."""
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        return {t.start[0]: t.string.lstrip("# ") for t in tokens if t.type == tokenize.COMMENT}

    def nodes(self) -> Iterator[ast.AST]:
        return ast.walk(self.tree)

    def at(self, node: ast.stmt | ast.expr | ast.excepthandler) -> str:
        return f"{self.path}:{node.lineno}"


@cache
def modules(*under: str) -> tuple[Module, ...]:
    """Every module of Moot, or of the named packages and files that exist."""
    found = (
        Module(path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    )
    return tuple(m for m in found if not under or m.path.split("/")[0].removesuffix(".py") in under)


@cache
def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def called_name(call: ast.Call) -> str:
    """`Permit` for both `Permit(…)` and `links.Permit(…)`."""
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""
