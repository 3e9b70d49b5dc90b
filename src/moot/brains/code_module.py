"""Modules of `code:` brains: looked for in the agent's own project, then on the import path, and nowhere else.

Two projects may have modules of the same name: each agent gets those of its own, whoever was loaded before. The current
folder is not looked in, so that it does not matter where a command is typed.

Above: wiring.py. Below: Python's import system. Not here: what a module has to hold (code.py).
"""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import BuiltinImporter, FrozenImporter, ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Final

from moot.brains.code import missing_in

LIBRARIES: Final = "site-packages"
_OWN: Final[dict[Path, dict[str, ModuleType]]] = {}
"""Modules that were loaded from each project."""


class Unloadable(Exception):
    """Why there is no such function."""


def load(project: Path, module: str, attribute: str) -> object:
    """What `module:attribute` names for an agent of this project."""
    with _of_project(project):
        try:
            return getattr(importlib.import_module(module), attribute)
        except (Exception, SystemExit) as error:  # the border to foreign code: importing it may do anything
            foreign = not isinstance(error, ImportError | AttributeError)
            raise Unloadable(f"{type(error).__name__}: {error}" if foreign else str(error)) from error


def look(project: Path, module: str, attribute: str) -> None:
    """Whether the module is there and seems to have it; nothing of it is run."""
    package = module.partition(".")[0]
    found = _found(project, package)
    if found is None:
        raise Unloadable(f"No module named {package!r}")
    if package != module or not found.origin or not found.origin.endswith(".py"):
        return  # to look further would run the package
    try:
        source = Path(found.origin).read_bytes()
    except OSError as error:
        raise Unloadable(str(error.strerror)) from error
    if reason := missing_in(source, module, attribute):
        raise Unloadable(reason)


def _found(project: Path, package: str) -> ModuleSpec | None:
    importlib.invalidate_caches()
    on_path = PathFinder.find_spec(package, _path(project)) if package else None
    return on_path or BuiltinImporter.find_spec(package) or FrozenImporter.find_spec(package)


def _path(project: Path) -> list[str]:
    """The project, then the import path without the current folder."""
    return [str(project), *(place for place in sys.path if place)]


@contextmanager
def _of_project(project: Path) -> Iterator[None]:
    """While modules are imported for a project, those of others are set aside. Nothing is left in its folder."""
    path, known, bytecode = list(sys.path), set(sys.modules), sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    others = {
        name: module
        for other, modules in _OWN.items()
        if other != project
        for name, module in modules.items()
        if sys.modules.get(name) is module
    }
    for name in others:
        del sys.modules[name]
    own = _OWN.setdefault(project, {})
    sys.modules.update(own)
    sys.path[:] = _path(project)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:], sys.dont_write_bytecode = path, bytecode
        fresh = {name: module for name, module in sys.modules.items() if name not in known or name in others}
        own |= {name: module for name, module in fresh.items() if _is_in(module, project)}
        for name, module in others.items():
            sys.modules.setdefault(name, module)


def _is_in(module: ModuleType, project: Path) -> bool:
    file = getattr(module, "__file__", None)
    return bool(file) and Path(str(file)).is_relative_to(project) and LIBRARIES not in Path(str(file)).parts
