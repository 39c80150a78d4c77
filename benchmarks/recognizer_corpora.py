"""Two vendors' corpora of written text, for orientation; not a script of its own."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from recognizer_data import Row, Score, reference, rows_of

from flowengine.extract.recognizers import recognize


def corpora() -> Iterator[Score]:
    for name, kind in (
        ("Numeral_EN", "number"), ("Ordinal_EN", "ordinal"), ("AmountOfMoney_EN", "money"),
        ("Duration_EN", "duration"), ("Time_EN", "datetime"), ("Email_EN", "email"),
        ("PhoneNumber", "phone"),
    ):  # fmt: skip
        score = Score(f"duckling {name}, something found")
        for row in rows_of(f"recognizers/duckling_{name}.jsonl"):
            if row.get("norm"):
                got = recognize(kind, row["input"], ref=_aware_free(row), asked=True)
                score.add(bool(got), row, [])
        yield score
    for name, kind in (
        ("Number_NumberModel", "number"), ("Number_OrdinalModel", "ordinal"),
        ("Number_PercentModel", "percent"), ("NumberWithUnit_CurrencyModel", "money"),
        ("DateTime_DurationParser", "duration"), ("DateTime_DateParser", "date"),
        ("DateTime_TimeParser", "time"), ("Choice_BooleanModel", "yes_no"),
        ("Sequence_PhoneNumberModel", "phone"), ("Sequence_EmailModel", "email"),
    ):  # fmt: skip
        score = Score(f"MS {name}, found or left empty")
        for row in rows_of(f"recognizers/ms_{name}.jsonl"):
            got = recognize(kind, row["input"], ref=_aware_free(row))
            score.add(bool(got) == bool(row["expected"]), row, [one.value for one in got])
        yield score


def _aware_free(row: Row) -> datetime | None:
    ref = reference(row)
    return ref.replace(tzinfo=None) if ref else None
