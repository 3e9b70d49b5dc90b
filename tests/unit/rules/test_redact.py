"""What looks like a secret is blackened, and ordinary words are not."""

import pytest

from moot.rules.words.redact import BLACK, redacted, redacted_values

SECRETS = [
    "sk-ant-REDACTED",
    "ghp_0123456789abcdefghijABCDEFGHIJ",
    "github_pat_11ABCDEFG0123456789_abcdef",
    "xoxb-123456789012-abcdefghij",
    "AKIAIOSFODNN7EXAMPLE",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
    "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0",
    "karl@example.org",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_is_blackened_and_the_words_around_it_stay(secret: str) -> None:
    assert redacted(f"take {secret} and go") == f"take {BLACK} and go"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgresql://karl:hunter2@db/x", f"postgresql://{BLACK}@db/x"),
        ("Authorization: Bearer abcdef0123456789", f"Authorization: Bearer {BLACK}"),
        ("password = hunter2, then", f"password = {BLACK}, then"),
        ('API_KEY: "a b c"', f"API_KEY: {BLACK}"),
        ("GITHUB_TOKEN=abc", f"GITHUB_TOKEN={BLACK}"),
    ],
)
def test_what_is_named_as_a_secret_is_one(text: str, expected: str) -> None:
    assert redacted(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "@arya, 10:30 at the office",
        "the token was lost",
        "see https://example.org/a:b",
        "sk-1",
        "c1:12",
        "1 + 1 = 2",
    ],
)
def test_ordinary_words_stay(text: str) -> None:
    assert redacted(text) == text


def test_values_inside_values_are_blackened_and_keys_stay() -> None:
    value = {"token": [1, "karl@example.org", {"b": None}], "n": 1.5}
    assert redacted_values(value) == {"token": [1, BLACK, {"b": None}], "n": 1.5}


def test_tokens_of_our_own_are_blackened() -> None:
    token = "moot_ag_arya_" + "Ab3-_xyz" * 5
    assert redacted(f"use {token} now") == "use [redacted] now"
