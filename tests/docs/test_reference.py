"""The generated pages say what the code says."""

from pathlib import Path

import pytest

from tools import reference


@pytest.mark.parametrize("name", list(reference.MAKERS))
def test_a_generated_page_is_up_to_date(name: str) -> None:
    page = reference.place(name)
    assert page.read_text(encoding="utf-8") == reference.MAKERS[name](), f"python -m tools.reference {name}"


def test_a_stale_page_is_seen_and_renewed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "PAGES", tmp_path / "reference")
    assert reference.main(["settings", "--check"]) == 1
    assert reference.main(["settings"]) == 0
    assert reference.main(["settings", "--check"]) == 0
    (tmp_path / "reference" / "settings.md").write_text("old", encoding="utf-8")
    assert reference.main(["--check"]) == 1


def test_an_unknown_page_is_refused() -> None:
    assert reference.main(["setings"]) == 2
