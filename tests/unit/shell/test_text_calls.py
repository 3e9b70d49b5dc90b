"""`# Run bash …` in a text is a call only where it is meant as one."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.tools.text_calls import MAX_CALLS, TextCalls, text_calls

pytestmark = pytest.mark.req("K-10")


def commands(found: TextCalls) -> list[str]:
    assert [call.name for call in found.calls] == ["shell"] * len(found.calls)
    assert [call.id for call in found.calls] == [f"text-{n + 1}" for n in range(len(found.calls))]
    return [json.loads(call.arguments)["command"] for call in found.calls]


@pytest.mark.parametrize(
    ("text", "asked", "left"),
    [
        ("# Run bash ls -la", ["ls -la"], ""),
        ("Let me look.\n\n# Run bash ls -la\n\nThen more.", ["ls -la"], "Let me look.\n\nThen more."),
        ("Let me look.\n# Run bash ls\nThen.", ["ls"], "Let me look.\nThen."),
        ("# Run bash ls\n# Run bash git status", ["ls", "git status"], ""),
        ("# Run bash\n```bash\nls -la\n```\nDone.", ["ls -la"], "Done."),
        ("# Run bash\n\n```\nls\n\n# a comment\ngit status\n```", ["ls", "git status"], ""),
        ("# Run bash:\n~~~sh\nls\n~~~", ["ls"], ""),
        ("# Run bash: ls", ["ls"], ""),
        ("# Run bash `ls -la`", ["ls -la"], ""),
        ("# Run bash grep 'a b' `x`", ["grep 'a b' `x`"], ""),
        ("# Run bash\n```bash\ngit log \\\n  -3\n```", ["git log    -3"], ""),
        ("# Run bash ls\r\nnext", ["ls"], "next"),
        ("```\nshown\n\n\n\n```\n# Run bash ls", ["ls"], "```\nshown\n\n\n\n```"),
        ("# Run bash ls   ", ["ls"], ""),
        ("# Run bash\tls", ["ls"], ""),
    ],
)
def test_a_call_is_found_and_taken_out(text: str, asked: list[str], left: str) -> None:
    found = text_calls(text)
    assert commands(found) == asked
    assert found.text == left


@pytest.mark.parametrize(
    "text",
    [
        "Hello.",
        "Write # Run bash ls on a line.",
        " # Run bash ls",
        "    # Run bash ls",
        "> # Run bash ls",
        "- # Run bash ls",
        "## Run bash ls",
        "# run bash ls",
        "# Run bashful things",
        "# Run bash",
        "# Run bash\n\nand then prose",
        "# Run bash\n\n\n```\nls\n```",
        "# Run bash\n```python\nprint()\n```",
        "# Run bash\n```bash\nls",
        "# Run bash\n```bash\n```",
        "# Run bash\n> ```\n> ls\n> ```",
        "# Run bash\n    ls",
        "```\n# Run bash ls\n```",
        "~~~md\n# Run bash ls\n~~~",
        "````\n```\n# Run bash ls\n```\n````",
        "```\n# Run bash ls",
        "```\n> ```\n# Run bash ls\n```",
        "```\n~~~\n# Run bash ls\n```",
        "The form:\n```\n# Run bash\n```",
        "# Run zsh ls",
    ],
)
def test_what_only_looks_like_a_call_is_left_as_it_is(text: str) -> None:
    assert text_calls(text) == TextCalls((), text)


def test_an_answer_asks_for_so_many_calls_and_no_more() -> None:
    found = text_calls("\n".join(f"# Run bash ls {number}" for number in range(50)))
    assert commands(found) == [f"ls {number}" for number in range(MAX_CALLS)]
    assert found.text == ""


LINES = st.sampled_from(
    ["# Run bash ls", "# Run bash", "```", "```bash", "~~~", "> q", "", "text", "- ```", "    x"]
)


@given(st.lists(LINES, max_size=12).map("\n".join))
def test_no_line_is_made_up_and_order_is_kept(text: str) -> None:
    found = text_calls(text)
    rest = iter(text.split("\n"))
    assert all(line in rest for line in found.text.split("\n")) or found.text == ""
    assert len(found.calls) <= text.count("# Run bash") * text.count("\n") + 1


@given(st.text(alphabet="#Run bash`~\n >ls", max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    found = text_calls(text)
    assert found.calls or found.text == text.replace("\r\n", "\n")


def test_a_hostile_text_is_read_in_no_time() -> None:
    text = "# Run bash\n```\n" * 20_000 + "# Run bash " + " " * 200_000 + "x"
    assert len(text_calls(text).calls) <= MAX_CALLS
