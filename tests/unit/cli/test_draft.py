"""The line that a person writes: editing it, and calling back what was sent."""

import pytest

from moot.cli.terminal.line_editor import ACTS, LineEditor


def typed(*steps: str) -> LineEditor:
    """Names of keys do what they do; everything else is written."""
    draft = LineEditor()
    for step in steps:
        if not draft.press(step):
            draft.insert(step)
    return draft


@pytest.mark.parametrize(
    ("steps", "text", "cursor"),
    [
        (("abc", "left", "left", "X"), "aXbc", 2),
        (("abc", "backspace", "backspace"), "a", 1),
        (("backspace", "left", "delete", "later", "earlier", "cut word"), "", 0),
        (("abc", "home", "delete"), "bc", 0),
        (("abc", "home", "right", "cut after"), "a", 1),
        (("abc", "left", "cut before"), "c", 0),
        (("one two  ", "cut word"), "one ", 4),
        (("one two", "left", "cut word"), "one o", 4),
        (("a", "newline", "b"), "a\nb", 3),
        (("abc", "home", "end", "d"), "abcd", 4),
    ],
)
def test_keys_edit(steps: tuple[str, ...], text: str, cursor: int) -> None:
    draft = typed(*steps)
    assert (draft.text, draft.cursor) == (text, cursor)


def test_what_was_sent_is_called_back_and_the_draft_waits_behind_it() -> None:
    draft = LineEditor()
    for line in ("one", "two", "two", "  "):
        draft.insert(line)
        assert draft.sent() == line
    draft.insert("three")
    seen = []
    for key in ("earlier", "earlier", "earlier", "later", "later", "later"):
        draft.press(key)
        seen.append(draft.text)
    assert seen == ["two", "one", "one", "two", "three", "three"]


def test_what_is_called_back_and_changed_is_sent_as_a_new_line() -> None:
    draft = LineEditor()
    draft.insert("one")
    draft.sent()
    draft.press("earlier")
    draft.insert("!")
    assert draft.sent() == "one!"
    draft.press("earlier")
    draft.press("earlier")
    assert (draft.text, set(ACTS) >= {"earlier", "later"}) == ("one", True)
