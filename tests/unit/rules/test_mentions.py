"""Who a text names: SPEC A-05, FLOOR part 6 and scenario 25, RELIABILITY T-FUZZ and T-BIG."""

import re
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from moot.rules.words.mentions import MAX_NAME_CHARACTERS, nearest, parse, resolve

pytestmark = pytest.mark.req("A-05")

MESSAGE_BYTES = 262_144  # the longest text a message may have, by default


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("@arya", ("arya",)),
        ("hey @arya, thoughts?", ("arya",)),
        ("hi @b @a", ("b", "a")),
        ("(@arya) [@gendry] {@c} <@d>", ("arya", "gendry", "c", "d")),
        ("**@arya** *@b* ~~@c~~ \"@d\" '@e' “@f”", ("arya", "b", "c", "d", "e", "f")),
        ("_@arya_ and __@b__", ("arya_", "b__")),
        ("cc:@arya;@b,@c|@d", ("arya", "b", "c", "d")),
        ("@arya's plan, @b: go! @c?", ("arya", "b", "c")),
        ("@arya\n@b\t@c\r\n@d\u00a0@e\u3000@f", ("arya", "b", "c", "d", "e", "f")),
        ("@arya—@b", ("arya", "b")),
        ("@a/@b", ("a",)),
        ("thanks @arya!!!", ("arya",)),
    ],
)
def test_a_name_after_an_at_sign_is_a_mention(text: str, names: tuple[str, ...]) -> None:
    assert parse(text) == names


def test_a_text_without_an_at_sign_names_nobody() -> None:
    assert parse("") == parse("hello") == parse("`code` and ~~~") == ()


def test_case_does_not_matter_and_each_name_comes_once_where_it_first_appeared() -> None:
    assert parse("@Gendry @ARYA @gendry @arya @Critic") == ("gendry", "arya", "critic")


def test_names_hold_dashes_underscores_and_dots_and_the_longest_run_wins() -> None:
    assert parse("@gemini-2 @code_reviewer @gpt-4.1 @a-b_c.d9") == (
        "gemini-2",
        "code_reviewer",
        "gpt-4.1",
        "a-b_c.d9",
    )


def test_dots_behind_a_name_end_the_sentence() -> None:
    assert parse("Ask @arya. Or @gpt-4.1... or @b.") == ("arya", "gpt-4.1", "b")
    assert parse("@arya.@b") == ("arya",)


@pytest.mark.parametrize("text", ["@", "@ arya", "@1st", "@-x", "@_x", "@.x", "@@", "a @ b", "@é", "@日本"])
def test_an_at_sign_without_a_latin_letter_behind_it_is_text(text: str) -> None:
    assert parse(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "x@b.com",
        "mail first.last+tag@b.com now",
        "a-@b a.@b a+@b a/@b @@b",
        "é@b.com ж@b",
        "git@github.com:x/y.git",
        "user@host@other",
        "snake_@b x__@b",
    ],
)
def test_e_mail_and_other_addresses_name_nobody(text: str) -> None:
    assert parse(text) == ()


def test_a_fediverse_handle_names_nobody() -> None:
    assert parse("@b@social.example and @arya") == ("arya",)


@pytest.mark.parametrize(
    "text",
    [
        "http://h/@b",
        "https://h/?q=@b",
        "(https://h/a,@b)",
        "see:ftp://h?@b!@c",
        "www.h.example?u=@b",
        "WWW.h.example,@b",
        "Www.h.example,@b",
        "h.example/@b",
    ],
)
def test_urls_name_nobody_up_to_the_next_white_space(text: str) -> None:
    assert parse(text) == ()
    assert parse(f"{text} @arya") == ("arya",)
    assert parse(f"@arya {text}") == ("arya",)


def test_a_url_earlier_in_the_text_does_not_silence_a_later_word() -> None:
    assert parse("http://x\u3000(@arya)") == ("arya",)
    assert parse("http://x,(@c) (@arya) www.y?@d (@b)") == ("arya", "b")


def test_a_package_scope_names_nobody() -> None:
    assert parse("npm i @types/node @anthropic-ai/sdk") == ()
    assert parse("@arya/ or @b /c") == ("arya", "b")


def test_a_backslash_keeps_a_name_from_being_a_mention() -> None:
    assert parse(r"write \@arya to wake @gendry") == ("gendry",)


def test_letters_of_cased_scripts_belong_to_the_word_and_name_nobody() -> None:
    cyrillic_e, combining_acute = "\u0435", "\u0301"
    assert parse(f"@g{cyrillic_e}ndry") == ()
    assert parse("@café @arİa @straße") == ()
    assert parse(f"@arya{combining_acute}") == ()
    assert parse("ñ@arya") == ()


def test_scripts_written_without_spaces_leave_the_name_whole() -> None:
    assert parse("こんにちは@aryaさん、@gendry。") == ("arya", "gendry")


def test_a_name_may_have_63_letters_and_a_longer_run_is_no_name() -> None:
    assert parse("@" + "a" * MAX_NAME_CHARACTERS) == ("a" * MAX_NAME_CHARACTERS,)
    assert parse("@" + "a" * (MAX_NAME_CHARACTERS + 1)) == ()
    assert parse("@" + "a" * MAX_NAME_CHARACTERS + "....") == ("a" * MAX_NAME_CHARACTERS,)


# ── code


def test_floor_scenario_25_code_e_mail_and_urls_make_no_mention() -> None:
    assert parse("`@b`") == parse("x@b.com") == parse("http://h/@b") == ()


@pytest.mark.parametrize(
    "text",
    [
        "`@b`",
        "``@b ` @c``",
        "```@b```",
        "a `x\n@b y` z",
        "`` ` @b ` ``",
        "```\n@b\n```",
        "```py\n@b\n```",
        "~~~\n@b\n~~~",
        "~~~ `x`\n@b\n~~~~",
        "````\n```\n@b\n```\n````",
        "```\n> ```\n@b\n```",
        "```\n~~~\n@b\n```",
        "```\n@b\n``` not the end\n@c\n```",
        "text\n```\n@b\n\n@c",  # never closed
        "   ```\n@b\n   ```",
        "1. do\n\n     ```sh\n     @b\n     ```",
        "- ```\n  @b\n  ```",
        "> ```\n> @b\n> ```",
        "```\r\n@b\r\n\r\n@c\r\n```",
        "`x\\` `@b`",
        "\\\\`@b`",  # the backslash is escaped, not the backtick
        "`x\r\n@b`",
        "```\nx ```\n@b\n```",
    ],
)
def test_code_names_nobody(text: str) -> None:
    assert parse(text) == ()
    assert parse(f"@arya\n\n{text}") == ("arya",)


@pytest.mark.parametrize(
    "text",
    [
        "`code` @arya `code`",
        "` @arya",  # nothing closes it
        "`` @arya `",
        "it`s @arya\n\nand it`s done",  # a paragraph ends every span
        "- it`s\n- @arya\n- it`s",
        "# it`s\n@arya\n# it`s",
        r"\`@arya\`",
        "```\nx\n```\n@arya",
        "```\nx\n`````\n@arya",
        "~~~\nx\n~~~\n@arya\n",
        "``` not a fence ` @arya",
        "> ```\n> x\n\n@arya",  # the quote ended, and the fence with it
        "> ```\n> x\n@arya",
        "> ```\n> x\n  @arya",
        "- ```\n  x\n\n@arya",
        "~~strike~~ @arya ~~strike~~",
        "~~~x~~~ y\n~~~\n@arya",
        "```\r\nx\r\n```\r\n@arya",
        "```\rx\r```\r@arya",
        "`x`@arya",
        "    @arya",  # a list item's second paragraph looks like this, too
    ],
)
def test_code_elsewhere_in_the_text_hides_no_mention(text: str) -> None:
    assert parse(text) == ("arya",)


_marks = st.sampled_from(
    ["`", "``", "```", "````", "~~~", "\n", "\n\n", " ", "x", "\\", "\n```\n", "\n~~~ x\n"]
)


@given(st.lists(_marks, max_size=30))
def test_what_is_code_is_what_a_commonmark_renderer_shows_as_code(marks: list[str]) -> None:
    # A name in every gap, so that each place is asked; the oracle says which of them are shown as text.
    text = "".join(f"{mark}(@n{i} )" for i, mark in enumerate(marks))
    tokens = MarkdownIt("commonmark").parse(text)
    shown = [child.content for token in tokens for child in token.children or () if child.type == "text"]
    assert parse(text) == tuple(re.findall(r"n\d+", " ".join(shown)))


# ── never raises, never slow


_hostile = st.text(st.sampled_from("@@@aZ09_.-/\\`~> \n\r\t:w+#é\u0301日\ud800\0😀"), max_size=200)


@given(st.one_of(st.text(), _hostile))
def test_the_parser_never_raises_and_yields_each_name_once_in_the_shape_of_a_name(text: str) -> None:
    names = parse(text)
    assert len(set(names)) == len(names)
    for name in names:
        assert re.fullmatch(r"[a-z](?:[a-z0-9_.-]{0,61}[a-z0-9_-])?", name)
        assert f"@{name}" in text.lower()


@given(_hostile)
def test_a_mention_on_a_line_of_its_own_survives_any_text_without_code(text: str) -> None:
    text = text.replace("`", "").replace("~", "")
    assert "zz.last" in parse(f"{text}\n@zz.last")


@pytest.mark.parametrize(
    "part",
    [
        *("@a ", "@a", "@", "@a,", "`", "` ", "`\n", "`\n\n", "@`", "`@a` ", "```\n", "> ```\n", "- ```\n"),
        *("~~~ ", "\\`", "\n@", "http://@a,", "http://x @a ", "\\", "@a.", "_@a", "> ", "1. `\n", "www.@a"),
        *("- ", "~", "\r", "@a,xxxxxxxxxx,"),
    ],
)
@pytest.mark.parametrize("begin", ["", "http://h?"])
def test_time_grows_with_the_text_and_not_faster(begin: str, part: str) -> None:
    def seconds(size: int) -> float:
        text = begin + (part * (size // len(part))) + "` @z"
        best = 1.0
        for _ in range(5):
            begun = time.process_time()
            parse(text)
            best = min(best, time.process_time() - begun)
        return best

    # Eight times the text in at most 36 times the time: what is quadratic would take 64 times as long.
    assert seconds(MESSAGE_BYTES) <= max(36 * seconds(MESSAGE_BYTES // 8), 0.05)


def test_ten_thousand_mentions_and_a_text_of_backticks_take_no_time_worth_naming() -> None:
    many = "".join(f"@n{i} " for i in range(10_000))
    begun = time.process_time()
    assert len(parse(many)) == 10_000
    assert parse("x" + "`" * 200_000 + " @arya") == ("arya",)
    assert time.process_time() - begun < 0.5  # 0.015 measured; the margin is for slow machines


def test_past_a_bound_that_no_honest_text_reaches_the_rest_names_nobody() -> None:
    assert parse("@arya " + "` " * 10_002 + "@late") == ("arya",)
    assert parse("@arya " + "x@y " * 20_000 + "@late") == ("arya",)


# ── resolve and nearest


KNOWN = {"arya": 1, "gemini": 2, "gemini-2": 3, "dash-": 4, "v1.2": 5}


@pytest.mark.parametrize(
    ("token", "found"),
    [
        ("arya", 1),
        ("Arya", 1),
        ("arya-", 1),
        ("arya_", 1),
        ("arya.-_", 1),
        ("gemini-2", 3),
        ("gemini-2-", 3),
        ("gemini-", 2),
        ("dash-", 4),
        ("dash--", 4),
        ("v1.2.", 5),
        ("gemini-cli", None),
        ("gemini-3", None),
        ("aryas", None),
        ("arya.com", None),
        ("dash", None),
        ("", None),
        ("---", None),
    ],
)
def test_a_token_finds_its_name_without_the_punctuation_behind_it_and_nothing_shorter(
    token: str, found: int | None
) -> None:
    assert resolve(token, KNOWN.get) == found


@given(st.from_regex(r"[a-z][a-z0-9_.-]{0,20}", fullmatch=True), st.text("-_.", max_size=5))
def test_any_known_name_is_found_whatever_punctuation_follows(name: str, tail: str) -> None:
    assert resolve(name + tail, {name: name}.get) == name


def test_the_exact_name_wins_over_the_trimmed_one() -> None:
    assert resolve("a-", {"a": 1, "a-": 2}.get) == 2


def test_the_nearest_names_come_closest_first_and_never_more_than_asked_for() -> None:
    known = ["arya", "gendry", "critic", "genie", "gendri"]
    assert nearest("gendrey", known)[0] == "gendry"
    assert nearest("ARYAA", known) == ("arya",)
    assert nearest("zzz", known) == ()
    assert len(nearest("gendr", known, limit=1)) == 1
    assert nearest("gendr", known, limit=0) == ()


def test_the_nearest_name_is_found_among_hundreds() -> None:
    known = [f"agent-{i}" for i in range(900)] + ["gendry"]
    assert nearest("gendrey", known) == ("gendry",)


def test_looking_for_near_names_is_bounded() -> None:
    looked_at = 0

    def names() -> Iterator[str]:
        nonlocal looked_at
        while True:
            looked_at += 1
            yield f"agent{looked_at}"

    nearest("a" * 100_000, names())
    assert looked_at <= 1001
