"""Errors: stable codes, near misses, and nothing of what was said."""

import inspect

import pytest

from flowengine import errors
from flowengine.errors import (
    FlowEngineError,
    FunctionError,
    GuardError,
    TurnFailed,
    did_you_mean,
    near_miss,
    slip_of,
)
from flowengine.facts import InputFailed

ALL = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, FlowEngineError) and kind.__module__ == errors.__name__
]


def test_each_error_has_a_code_of_its_own() -> None:
    codes = [kind.code for kind in ALL]
    assert len(ALL) > 10
    assert len(set(codes)) == len(codes)


def test_the_page_of_errors_names_every_one_under_its_base() -> None:
    page = errors.__doc__ or ""
    assert [kind.__name__ for kind in ALL if kind.__name__ not in page] == []


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("verfy_identity", ["verify_identity", "negotiate"], "verify_identity"),
        ("disclosre", ["disclosure", "disclosed"], "disclosure"),
        ("xyzzy", ["verify_identity", "negotiate"], None),
        ("ab", ["abc", "ab"], None),
        ("anything", [], None),
    ],
)
def test_a_near_miss_is_the_name_that_was_probably_meant(
    name: str, known: list[str], meant: str | None
) -> None:
    assert near_miss(name, known) == meant
    assert did_you_mean(name, known) == (f" Did you mean {meant!r}?" if meant else "")


def test_a_failed_function_is_named_without_its_message() -> None:
    error = FunctionError("resolver", "account", ValueError("card 4242"))
    assert (str(error), error.kind, error.name) == (
        "resolver 'account' raised ValueError", "resolver", "account",
    )  # fmt: skip


def test_a_failed_turn_says_what_is_kept() -> None:
    fact = InputFailed("i1", "function_failed", "watcher 'risk'")
    error = TurnFailed(fact)
    assert error.fact is fact
    assert str(error).startswith("input failed (function_failed) at watcher 'risk'; the words are")


def test_a_guard_error_knows_its_place_in_the_text() -> None:
    error = GuardError("no such word", text="is_tru(x)", offset=0, length=6)
    assert isinstance(error, errors.FlowError)
    assert error.text[error.offset : error.offset + error.length] == "is_tru"


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("agred", ["agreed", "day"], "agreed"),
        ("dya", ["agreed", "day"], "day"),
        ("dob", ["day"], None),
        ("account_id", ["account"], None),
        ("line_1", ["line_2"], None),
        ("dates", ["date"], None),
        ("ab", ["ac"], None),
    ],
)
def test_a_slip_of_the_pen_is_a_letter_or_two(
    name: str, known: list[str], meant: str | None
) -> None:
    assert slip_of(name, known) == meant
