"""What each word of the guard language asks, in a sentence, with an example: for the reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Meaning(NamedTuple):
    example: str
    sentence: str


QUESTIONS: Mapping[str, Meaning] = {
    "always": Meaning("always", "True; the contrary, `not always`, never is."),
    "caller_spoke": Meaning(
        "caller_spoke", "A turn with words of the caller's has closed since the phase was entered."
    ),
    "is_true": Meaning("is_true(agreed)", "The key holds `true`, and nothing else will do."),
    "is_set": Meaning("is_set(booking)", "The key holds something; `false` and 0 are something."),
    "captured": Meaning("captured([people, date])", "All of these keys hold something."),
    "grounded": Meaning(
        "grounded(drug)", "The value stands in the caller's own words, and it is known where."
    ),
    "corrected": Meaning(
        "corrected(date)", "The caller has given another value in the newest turn."
    ),
    "resolved": Meaning(
        "resolved(stock)", "The resolver has answered, for what its arguments hold now."
    ),
    "failed": Meaning("failed(stock)", "The resolver's last run failed or timed out."),
    "called_ok": Meaning("called_ok(verify)", "The tool has run and succeeded."),
    "done": Meaning(
        "done(identify)",
        "The phase was done when last active; a correction may take that back.",
    ),
    "in_phase": Meaning("in_phase(confirm)", "The phase is active, or one inside it."),
    "custom": Meaning("custom(is_open_today)", "A registered pure function of State says so."),
    "decided": Meaning(
        "decided(agrees)",
        "The question was answered yes, with enough certainty. Also `decided(agrees, false)`, an "
        'option `decided(wish, "refill")`, or a level `decided(anger, at_least=3)`. In JSON '
        '`{"decided": "agrees"}`, `{"decided": {"agrees": false}}`, `{"decided": {"anger": '
        '{"at_least": 3}}}`.',
    ),
    "eq": Meaning("eq(status, 3)", "The key holds this value; `status == 3` says the same."),
    "one_of": Meaning(
        'one_of(plan, "basic", "plus")',
        'The key holds one of these; `plan in ["basic", "plus"]` says the same.',
    ),
}
"""The words that are a guard by themselves."""

TERMS: Mapping[str, Meaning] = {
    "key": Meaning("people >= 6", "What a key holds; a path such as `booking.reference` goes on."),
    "arg": Meaning("args.people == people", "An argument of the tool call that is decided."),
    "confidence": Meaning("confidence(name) < 0.8", "How certain a value's source was, 0 to 1."),
    "turns_in_phase": Meaning(
        "turns_in_phase >= 3", "Turns of the caller's since the phase was entered."
    ),
    "elapsed": Meaning("elapsed > 30s", "Time since the phase was entered."),
}
"""What may be compared."""

OPERATORS: Mapping[str, Meaning] = {
    "<": Meaning("people < 6", "Less; numbers, amounts, dates, times and durations by size."),
    "<=": Meaning("1 <= people <= 20", "Less or equal; comparisons may form a chain."),
    ">": Meaning("amount > 99.50", "Greater."),
    ">=": Meaning('date >= "2026-03-04"', "Greater or equal."),
    "==": Meaning('reason == "job"', "The same; nothing is not the same as anything."),
    "!=": Meaning('reason != "job"', "Another; unknown if the key holds nothing."),
    "in": Meaning('reason in ["job", "illness"]', "One of a list."),
    "matches": Meaning('zip matches "^9[0-9]{4}$"', "The pattern is found in the text (RE2)."),
}

JOINED: Mapping[str, Meaning] = {
    "and": Meaning("is_true(agreed) and people >= 6", "Both."),
    "or": Meaning("in_phase(ask) or in_phase(confirm)", "One of them at least."),
    "not": Meaning("not is_set(booking)", "The contrary; that of unknown is unknown."),
}
