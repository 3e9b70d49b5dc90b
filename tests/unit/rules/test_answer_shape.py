"""What an answer has to look like: which shapes can be asked for, and which texts fit them."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from moot.errors import BadValue
from moot.rules.answer_shape import Misfit, answer, asking, checked, in_words, one_of

pytestmark = pytest.mark.req("M-05")
PRICE = {
    "type": "object",
    "properties": {
        "price": {"type": "number", "minimum": 0},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
    },
    "required": ["price"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("shape", "text", "value"),
    [
        (PRICE, '{"price": 3}', {"price": 3}),
        (PRICE, '```json\n{"price": 3.5, "tags": ["a"]}\n```', {"price": 3.5, "tags": ["a"]}),
        (one_of(("yes", "no")), "  Yes. ", "yes"),
        (one_of(("yes", "no")), '"no"', "no"),
        ({"type": "string", "maxLength": 3}, "abc", "abc"),
        ({"type": "integer"}, " 7 ", 7),
        ({"type": ["integer", "null"]}, "null", None),
        ({"type": "array", "minItems": 1}, "[0]", [0]),
        ({"const": 1}, "1", 1),
    ],
)
def test_a_text_that_fits_has_a_value(shape: Any, text: str, value: Any) -> None:
    assert answer(checked(shape), text) == value


@pytest.mark.parametrize(
    ("shape", "text", "problem"),
    [
        (PRICE, "about three", "it is not JSON"),
        (PRICE, "3", "the answer is number, and not object"),
        (PRICE, "{}", "the answer has no price"),
        (PRICE, '{"price": "3"}', "the answer.price is string, and not number"),
        (PRICE, '{"price": -1}', "the answer.price is -1, which is out of range"),
        (PRICE, '{"price": 1, "tags": ["a", 2]}', r"the answer.tags\[1\] is number, and not string"),
        (PRICE, '{"price": 1, "tags": ["a", "b", "c"]}', "the answer.tags has 3 items"),
        (PRICE, '{"price": 1, "why": "x"}', 'the answer has "why", which was not asked for'),
        (one_of(("yes", "no")), "maybe", 'the answer is "maybe", and not one of'),
        ({"type": "integer"}, "true", "the answer is boolean, and not integer"),
        ({"const": 1}, "true", "the answer is true, and not 1"),
        ({"type": "string", "minLength": 3}, "ab", "the answer has 2 characters"),
        ({"type": "object"}, "[" * 100_000, "it is not JSON"),
    ],
)
def test_a_text_that_does_not_fit_is_told_where(shape: Any, text: str, problem: str) -> None:
    with pytest.raises(Misfit, match=problem):
        answer(checked(shape), text)


@pytest.mark.parametrize(
    ("shape", "says"),
    [
        ({}, "a shape is a JSON object"),
        ([], "a shape is a JSON object"),
        ({"$ref": "http://elsewhere"}, 'shape has "\\$ref"'),
        ({"pattern": "(a+)+$"}, 'shape has "pattern"'),
        ({"type": "text"}, "shape.type cannot be used"),
        ({"enum": []}, "shape.enum cannot be used"),
        ({"properties": {"a": {"required": "b"}}}, "shape.properties.a.required cannot be used"),
        ({"items": 3}, "shape.items is not a JSON object"),
        ({"minItems": 1.5}, "shape.minItems cannot be used"),
        ({"enum": ["x" * 5000]}, "too long"),
    ],
)
def test_a_shape_that_nothing_could_be_held_against_is_refused(shape: Any, says: str) -> None:
    with pytest.raises(BadValue, match=says):
        checked(shape)


def test_a_shape_too_deep_is_refused() -> None:
    shape: dict[str, Any] = {"type": "string"}
    for _ in range(20):
        shape = {"items": shape}
    with pytest.raises(BadValue, match="too deep"):
        checked(shape)


def test_what_is_expected_stands_below_the_question() -> None:
    assert asking("ready?", {}) == "ready?"
    assert asking("ready?", {"shape": one_of(("yes", "no"))}).endswith(
        "(The answer has to be one of yes, no, and nothing else.)"
    )
    assert "JSON, and nothing else, that fits" in in_words(checked(PRICE))
    assert asking("ready?", {"shape": "nonsense"}) == "ready?"


values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from([0.5, 2.0]) | st.text("ab", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=6,
)
kinds = st.sampled_from(["object", "array", "number", "integer", "boolean", "null"])
parts = st.recursive(
    st.fixed_dictionaries({"type": kinds | st.lists(kinds, min_size=1, max_size=2)}),
    lambda inner: st.fixed_dictionaries(
        {"type": kinds},
        optional={
            "properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
            "required": st.lists(st.sampled_from("ab"), max_size=2),
            "additionalProperties": st.booleans(),
            "items": inner,
            "minItems": st.integers(0, 2),
            "maximum": st.integers(-2, 2),
            "enum": st.lists(st.integers(0, 2) | st.booleans(), min_size=1, max_size=3),
        },
    ),
    max_leaves=4,
)


@given(shape=parts, value=values)
def test_what_fits_is_what_a_full_validator_says(shape: dict[str, Any], value: Any) -> None:
    expected = Draft202012Validator(shape).is_valid(value)
    try:
        answer(checked(shape), msgspec.json.encode(value).decode())
    except Misfit:
        assert not expected
    else:
        assert expected
