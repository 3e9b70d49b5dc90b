"""From what a program wrote, and when, to a picture that moves without a script."""

import re
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

import pytest

from moot.rules.palette import COLOURS as AGENT_COLOURS
from tools.picture import BACKGROUND, COLOURS, DIM, STRONG, TEXT, Beat, Film, film, hex_of, svg
from tools.record import MAX_BYTES, PICTURE, ROOT, at_one_hour, joined, moot_below, troubles, typed

SVG = "{http://www.w3.org/2000/svg}"
BEATS = (
    Beat(0.0, b"$ run\r\n"),
    Beat(1.0, b"\x1b[38;5;149m\xe2\x97\x8f analyst\x1b[0m  \x1b[2mthinking\x1b[0m"),
    Beat(2.0, b"\r                    \r\x1b[1mdone\x1b[0m <&> \xe2\x94\x80\r\n"),
)


def filmed(beats: Sequence[Beat] = BEATS) -> Film:
    return film(beats, 40, 4, hold=2.0)


def drawn(beats: Sequence[Beat] = BEATS) -> str:
    return svg(filmed(beats), title="run <it>", description="what one sees")


def words(made: Film, at: float) -> list[str]:
    """The screen at a moment, as text."""
    lines = [""] * made.lines
    for each in made.shown:
        if each.start <= at < each.until:
            for run in each.row:
                lines[each.line] = lines[each.line].ljust(run.column) + run.text
    return lines


def test_a_row_stands_from_when_it_was_written_until_something_else_takes_its_place() -> None:
    made = filmed()
    assert made.seconds == 4.0
    assert words(made, 0.5) == ["$ run", "", "", ""]
    assert words(made, 1.5) == ["$ run", "● analyst  thinking", "", ""]
    assert words(made, 3.9) == ["$ run", "done <&> ─", "", ""]
    assert [(each.start, each.until) for each in made.shown if each.line == 1] == [(1.0, 2.0), (2.0, 4.0)]


def test_colours_faint_and_strong_text_look_as_in_a_terminal() -> None:
    looks = {run.text.strip(): (run.colour, run.bold) for each in filmed().shown for run in each.row}
    assert looks["analyst"] == ("#afd75f", False)
    assert looks["thinking"] == (DIM, False)
    assert looks["done"] == (STRONG, True)
    assert looks["$ run"] == (TEXT, False)
    assert looks["─"][0] == TEXT


def test_a_screen_that_scrolls_keeps_its_last_lines() -> None:
    made = filmed([Beat(float(n), f"\r\nline {n}".encode()) for n in range(6)])
    assert words(made, made.seconds - 0.1) == ["line 2", "line 3", "line 4", "line 5"]


def test_what_comes_within_one_frame_is_shown_at_once() -> None:
    made = filmed([Beat(1.0, b"a"), Beat(1.01, b"b"), Beat(2.0, b"c")])
    assert [run.text for each in made.shown for run in each.row] == ["ab", "abc"]


def test_the_cursor_goes_along() -> None:
    assert [(spot.at, spot.column, spot.line) for spot in filmed().cursor] == [
        (0.0, 0, 1),
        (1.0, 19, 1),
        (2.0, 0, 2),
    ]


def test_the_picture_is_well_formed_and_says_what_it_shows() -> None:
    root = ET.fromstring(drawn())
    assert root.tag == f"{SVG}svg"
    assert root.findtext(f"{SVG}title") == "run <it>"
    assert root.findtext(f"{SVG}desc") == "what one sees"
    assert "<&>" in [(text.text or "").strip() for text in root.iter(f"{SVG}text")]


def test_nothing_in_it_runs_or_comes_from_elsewhere() -> None:
    for picture in (drawn(), PICTURE.read_text(encoding="utf-8")):
        tags = {each.tag.removeprefix(SVG) for each in ET.fromstring(picture).iter()}
        assert tags <= {"svg", "title", "desc", "style", "g", "text", "rect", "path", "circle"}
        assert re.findall(r"\w+://\S+?\"", picture) == ['http://www.w3.org/2000/svg"']
        assert not re.search(r"url\(|@import|@font-face|\bon\w+=|href", picture)


def test_every_group_has_its_keyframes_and_what_stays_is_seen_without_motion() -> None:
    picture = drawn()
    assert set(re.findall(r"animation-name:(\w+)", picture)) == set(re.findall(r"@keyframes (\w+)", picture))
    assert "@media (prefers-reduced-motion:reduce){.f{animation:none!important}}" in picture
    still = [
        (text.text or "").strip()
        for group in ET.fromstring(picture).iter(f"{SVG}g")
        if "last" in group.get("class", "")
        for text in group
    ]
    assert still == ["$ run", "done", "<&>", "─"]
    assert re.search(r"@keyframes k1\{0%\{visibility:hidden\}25%\{visibility:visible\}50%,100%", picture)


def test_everything_is_readable_on_the_background() -> None:
    agents = [film([Beat(0, f"\x1b[38;5;{each.ansi256}mx".encode())], 4, 1, hold=1) for each in AGENT_COLOURS]
    used = [TEXT, DIM, STRONG, *COLOURS.values(), *(made.shown[0].row[0].colour for made in agents)]
    assert {colour for colour in used if contrast(colour, BACKGROUND) < 4.5} == set()
    assert hex_of("brightred") == COLOURS["red"]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(
    ("picture", "told"),
    [
        ("<svg/>", []),
        ("<svg>/tmp/x1</svg>", ["it names /tmp/x1"]),
        ("x" * (MAX_BYTES + 1), [f"it has {MAX_BYTES + 1} bytes, at most {MAX_BYTES} are allowed"]),
    ],
    ids=["fine", "a path", "too large"],
)
def test_a_picture_that_tells_about_the_machine_or_is_too_large_is_not_written(
    picture: str, told: list[str]
) -> None:
    assert troubles(picture, ["/tmp/x1", "", "/"]) == told


def test_the_command_is_typed_first_and_hour_and_port_are_always_the_same() -> None:
    beats = joined(typed("moot"), at_one_hour([Beat(0.5, b"demo  04:29  127.0.0.1:33445/api")]))
    assert b"".join(beat.data for beat in beats) == b"$ moot\r\ndemo  12:34  127.0.0.1:45678/api"
    assert [beat.at for beat in beats] == sorted(beat.at for beat in beats)


def test_what_is_recorded_names_itself_by_a_path_below_its_home(tmp_path: Path) -> None:
    python, moot = moot_below(tmp_path)
    assert moot.is_relative_to(tmp_path)
    asked = [str(python), "-c", "from moot.cli.mcp.clients.entry import this_moot; print(*this_moot())"]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(moot)


def test_the_picture_in_the_readme_can_be_published_and_shows_the_demo() -> None:
    picture = PICTURE.read_text(encoding="utf-8")
    assert troubles(picture, ["/tmp", "/home", "/root", str(ROOT)]) == []
    shown = "\n".join(text.text or "" for text in ET.fromstring(picture).iter(f"{SVG}text"))
    for words_seen in ("No model is called", "~/.moot/demo", "@writer, two lines please.", "critic passed"):
        assert words_seen in shown
    assert str(PICTURE.relative_to(ROOT)) in (ROOT / "README.md").read_text(encoding="utf-8")
