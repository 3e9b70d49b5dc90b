"""The planter of defects: what it plants, and that everything on its list can still be planted."""

from pathlib import Path

import pytest

from tools.teeth import DEFECTS, ROOT, BadDefect, Patch, Verdict, lines, main, read

DEFECTS_HERE = read(DEFECTS)


def test_a_patch_exchanges_its_text(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("a = 1\nb = 2\n", encoding="utf-8")
    Patch("x.py", "a = 1\n", "a = 3\n").apply(tmp_path)
    assert (tmp_path / "x.py").read_text(encoding="utf-8") == "a = 3\nb = 2\n"


@pytest.mark.parametrize("text", ["", "a = 1\na = 1\n"], ids=["absent", "twice"])
def test_a_text_that_is_not_there_exactly_once_is_no_defect(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.py").write_text(text, encoding="utf-8")
    with pytest.raises(BadDefect, match="times"):
        Patch("x.py", "a = 1\n", "a = 3\n").apply(tmp_path)


@pytest.mark.parametrize("defect", DEFECTS_HERE, ids=lambda defect: defect.name.replace(" ", "-"))
def test_a_listed_defect_can_be_planted_and_names_a_test(tmp_path: Path, defect: object) -> None:
    found = next(one for one in DEFECTS_HERE if one is defect)
    for patch in found.patches:
        copy = tmp_path / patch.file
        if not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes((ROOT / patch.file).read_bytes())
        patch.apply(tmp_path)
    for test in found.tests:
        file, _, name = test.partition("::")
        assert f"def {name}" in (ROOT / file).read_text(encoding="utf-8")


def test_there_are_enough_of_them() -> None:
    assert len({defect.name for defect in DEFECTS_HERE}) == len(DEFECTS_HERE) >= 12


def test_the_last_line_is_the_score() -> None:
    told = lines([Verdict("one", True, 1.0, "x"), Verdict("another", False, 2.0, "SURVIVED")])
    assert told[-1] == "1/2 planted defects caught"
    assert "MISSED" in told[1]


def test_a_word_that_no_defect_is_called_by_is_said_and_nothing_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["no such defect"]) == 2
    assert "no defect is called like no such defect" in capsys.readouterr().out
