"""Modules of `code:` brains: those of the agent's own project, whoever was loaded before."""

import sys
from pathlib import Path
from typing import Any

import pytest

from moot.brains.code_module import Unloadable, load, look


def project(folder: Path, name: str, says: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.py").write_text(f"from {name}_words import says\ndef think(): return says\n")
    (folder / f"{name}_words.py").write_text(f"says = {says!r}\n")
    return folder


def test_two_projects_may_have_modules_of_the_same_name(tmp_path: Path) -> None:
    one, two = (project(tmp_path / each, "twins", each) for each in ("one", "two"))
    first: Any = load(one, "twins", "think")
    second: Any = load(two, "twins", "think")
    assert (first(), second()) == ("one", "two")
    assert load(one, "twins", "think") is first  # and is not loaded twice


def test_what_another_project_has_is_not_found(tmp_path: Path) -> None:
    with_it, without = project(tmp_path / "with", "alone", "here"), tmp_path / "without"
    load(with_it, "alone", "think")
    for seek in (load, look):
        with pytest.raises(Unloadable, match="No module named 'alone'"):
            seek(without, "alone", "think")
    look(with_it, "alone", "think")


def test_the_current_folder_is_not_looked_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project(tmp_path / "here", "nearby", "here"))
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    for seek in (load, look):
        with pytest.raises(Unloadable):
            seek(tmp_path, "nearby", "think")


def test_libraries_are_found_and_stay_what_they_are(tmp_path: Path) -> None:
    path, library = list(sys.path), sys.modules["pathlib"]
    assert load(tmp_path, "pathlib", "Path") is Path
    look(tmp_path, "sys", "path")
    assert (sys.path, sys.modules["pathlib"]) == (path, library)
