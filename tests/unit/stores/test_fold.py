"""The fold knows every change there is, each by a function of its own."""

from typing import get_args, get_type_hints

from moot.model.change import Change
from moot.stores.fold import FOLDS


def test_the_fold_knows_every_change_and_no_other() -> None:
    assert set(FOLDS) == set(get_args(Change))


def test_each_change_is_folded_by_the_function_made_for_it() -> None:
    made_for = {kind: get_type_hints(folded)["change"] for kind, folded in FOLDS.items()}
    assert made_for == {kind: kind for kind in FOLDS}
