"""Modules of `code:` brains: looked for in the agent's own project, then on the import path, and nowhere else.

Two projects may have modules of the same name: each agent gets those of its own project, whichever was loaded first.
The current folder is not searched, so that it does not matter where a command is typed.

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
_MODULES: Final[dict[Path, dict[str, ModuleType]]] = {}
"""Modules that were loaded from each project."""


class Unloadable(Exception):
    """Why there is no such function."""


def load(project: Path, module: str, attribute: str) -> object:
    """What `module:attribute` names for an agent of this project."""
    with _imports_of(project):
        try:
            return getattr(importlib.import_module(module), attribute)
        except (Exception, SystemExit) as error:  # the border to foreign code: importing it may do anything
            foreign = not isinstance(error, ImportError | AttributeError)
            raise Unloadable(f"{type(error).__name__}: {error}" if foreign else str(error)) from error


def look(project: Path, module: str, attribute: str) -> None:
    """Raise Unloadable unless the module exists and seems to have the attribute. Nothing of it is run."""
    package = module.partition(".")[0]
    spec = _find(project, package)
    if spec is None:
        raise Unloadable(f"No module named {package!r}")
    if package != module or not spec.origin or not spec.origin.endswith(".py"):
        return  # looking further would run the package
    try:
        source = Path(spec.origin).read_bytes()
    except OSError as error:
        raise Unloadable(str(error.strerror)) from error
    if reason := missing_in(source, module, attribute):
        raise Unloadable(reason)


def _find(project: Path, package: str) -> ModuleSpec | None:
    importlib.invalidate_caches()
    on_path = PathFinder.find_spec(package, _path(project)) if package else None
    return on_path or BuiltinImporter.find_spec(package) or FrozenImporter.find_spec(package)


def _path(project: Path) -> list[str]:
    """The project, then the import path without the current folder."""
    return [str(project), *(entry for entry in sys.path if entry)]


@contextmanager
def _imports_of(project: Path) -> Iterator[None]:
    """Import modules for one project: those of other projects are set aside meanwhile. Nothing is written to its
    folder."""
    path, names_before, bytecode = list(sys.path), set(sys.modules), sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    others = {
        name: module
        for other, modules in _MODULES.items()
        if other != project
        for name, module in modules.items()
        if sys.modules.get(name) is module
    }
    for name in others:
        del sys.modules[name]
    own = _MODULES.setdefault(project, {})
    sys.modules.update(own)
    sys.path[:] = _path(project)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:], sys.dont_write_bytecode = path, bytecode
        new = {
            name: module for name, module in sys.modules.items() if name not in names_before or name in others
        }
        own |= {name: module for name, module in new.items() if _is_in(module, project)}
        for name, module in others.items():
            sys.modules.setdefault(name, module)


def _is_in(module: ModuleType, project: Path) -> bool:
    file = getattr(module, "__file__", None)
    return bool(file) and Path(str(file)).is_relative_to(project) and LIBRARIES not in Path(str(file)).parts
