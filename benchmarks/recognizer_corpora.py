"""Two vendors' corpora compared by value, and what is known not to be read; no own script.

A row is *spoken-style* when it has no digit and no written sign. Every spoken-style miss belongs
to a kind of phrase listed with its reason in `recognizers_known_misses.yaml`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import yaml
from recognizer_data import Row, Score, reference, rows_of

from flowengine.extract.recognizers import Recognition, recognize

KNOWN = Path(__file__).parent / "recognizers_known_misses.yaml"
_WRITTEN = re.compile(r"[\d$€£¥₹%@#/<>^+*=~_()\[\]{}|]|[a-z]\.[a-z]", re.IGNORECASE)
_SECONDS = {
    "Y": 31536000, "MO": 2592000, "W": 604800, "D": 86400, "H": 3600, "M": 60, "S": 1,
}  # fmt: skip
_GRAINS = {"year": "Y", "month": "MO", "week": "W", "day": "D", "hour": "H", "minute": "M"}

Wanted = list[Any]
"""Values of which one is right; empty where nothing may be read."""


def is_spoken(text: str) -> bool:
    return not _WRITTEN.search(text)


def corpora() -> Iterator[Score]:
    known, missed = _known(), Counter[str]()
    for source, name, kind, wanted in _CORPORA:
        every = Score(f"{source} {name}, right value or left empty")
        spoken = Score(f"{source} {name}, spoken-style")
        for row in rows_of(f"recognizers/{source.lower()}_{name}.jsonl"):
            expected = wanted(row)
            if expected is None or (kind in ("datetime", "date") and "ref" not in row):
                continue
            got = recognize(kind, row["input"], ref=_naive(row), asked=bool(expected) or None)
            hit = _is_right(kind, expected, got)
            values = [one.value for one in got]
            every.add(hit, row, values)
            if is_spoken(row["input"]):
                spoken.add(hit, row, values)
                if not hit:
                    missed[_listed(known, kind, row["input"])] += 1
        yield from (every, spoken)
    _report(known, missed)


def _report(known: list[Mapping[str, str]], missed: Counter[str]) -> None:
    print("  spoken-style misses by kind of phrase")
    for entry in known:
        print(f"    {missed[entry['phrase']]:4}  {entry['phrase']}: {entry['reason']}")
    print(f"    {missed['']:4}  unlisted (0)")


def _known() -> list[Mapping[str, str]]:
    return yaml.safe_load(KNOWN.read_text("utf-8"))


def _listed(known: list[Mapping[str, str]], kind: str, text: str) -> str:
    """The kind of phrase that the text belongs to; empty when it belongs to none."""
    for entry in known:
        if kind in entry["kinds"].split() and re.search(entry["pattern"], text, re.IGNORECASE):
            return entry["phrase"]
    return ""


def _naive(row: Row) -> datetime | None:
    ref = reference(row)
    return ref.replace(tzinfo=None) if ref else None


# Is it right?


def _is_right(kind: str, wanted: Wanted, got: list[Recognition]) -> bool:
    if not wanted:
        return not got
    values = [value for one in got for value in (one.value, *one.alternatives)]
    if kind == "duration":
        values = [_seconds(value) for value in values]
    same = _same_moment if kind in ("datetime", "date", "time") else _same
    return any(same(want, value) for want in wanted for value in values)


def _same(want: Any, value: Any) -> bool:
    if isinstance(want, bool) or isinstance(value, bool):
        return want is value
    try:
        return abs(Decimal(str(want)) - Decimal(str(value))) < Decimal("0.01")
    except InvalidOperation:
        return str(want).lower() == str(value).lower()


def _same_moment(want: str, value: str) -> bool:
    """Dates as far as both have one; times on twelve hours, as the half of day is a guess."""
    date, _, time = want.partition("T")
    got_date, _, got_time = value.partition("T") if "-" in value else ("", "", value)
    if date and got_date and date != got_date:
        return False
    if time and got_time and _on_clock(time) != _on_clock(got_time):
        return False
    return bool((date and got_date) or (time and got_time))


def _on_clock(time: str) -> tuple[int, int]:
    hour, minute = time[:5].split(":")
    return int(hour) % 12, int(minute)


# What the corpora expect


def _duckling(row: Row) -> Wanted | None:
    norm = row.get("norm") or {}
    match norm.get("kind"):
        case "none":
            return []
        case "number" | "ordinal" | "amountofmoney":
            return [norm["value"]]
        case "EmailData" | "PhoneNumberValue":
            return [re.sub(r"[()\s-]|ext.*", "", norm["value"])]
        case "duration":
            return [norm["value"] * _SECONDS[_GRAINS.get(norm["grain"], "S")]]
        case _:
            return None


def _duckling_time(row: Row) -> Wanted | None:
    norm = row.get("norm") or {}
    ends = [norm[name] for name in ("value", "from", "to") if norm.get(name)]
    if norm.get("kind") == "none":
        return []
    whole = norm.get("grain") in ("day", "week", "month", "quarter", "year")
    found = [end[:10] if whole else end[:16] for end in ends]
    return [*found, *_days_within(norm)] or None


def _days_within(norm: Mapping[str, str]) -> Iterator[str]:
    """The days of a short span, and the last day of a long one: their spans end after it."""
    if norm.get("kind") != "interval" or not norm["to"].endswith("T00:00:00"):
        return
    first, end = (date.fromisoformat(norm[name][:10]) for name in ("from", "to"))
    days = (end - first).days
    for back in range(1, days + 1 if days <= 4 else 2):
        yield str(end - timedelta(back))


def _duckling_money(row: Row) -> Wanted | None:
    """Amounts in the main unit; theirs count cents as they are."""
    cents = (row.get("norm") or {}).get("unit") == "Cent"
    wanted = _duckling(row)
    return [value / 100 for value in wanted] if wanted and cents else wanted


def _ms(row: Row) -> Wanted | None:
    found = [value for one in row["expected"] for value in _resolutions(one["value"])]
    return found if found or not row["expected"] else None  # recurrences have no value


def _resolutions(value: Mapping[str, Any]) -> Iterator[Any]:
    texts = [
        *(
            text
            for name in ("FutureResolution", "PastResolution")
            for text in value.get(name, {}).values()
        ),
        *(
            one[name]
            for one in value.get("values", ())
            for name in ("value", "start", "end")
            if name in one
        ),
    ]
    for text in texts:
        if re.match(r"\d{4}-\d\d-\d\d", text):
            yield text.replace(" ", "T")[:16]
        elif re.match(r"\d\d:\d\d", text):
            yield f"T{text[:5]}"
    if "value" in value:
        yield _plain(value["value"])


def _plain(value: Any) -> Any:
    """Their "end-1" counts from the last, which is "end+0"; ours is -1."""
    if not isinstance(value, str):
        return value
    from_end = re.fullmatch(r"end([+-]\d+)", value)
    return int(from_end[1]) - 1 if from_end else value.rstrip("%")


def _ms_seconds(row: Row) -> Wanted:
    values = [one["value"] for one in row["expected"]]
    return [float(v["FutureResolution"]["duration"]) for v in values if "FutureResolution" in v]


def _ms_phone(row: Row) -> Wanted:
    return [re.sub(r"[^\d+]", "", str(value)) for value in _ms(row) or []]


def _seconds(got: str) -> float | None:
    found = re.fullmatch(r"P(T?)(\d+)([YMWDHS])", got)
    if not found:
        return None
    unit = "MO" if found[3] == "M" and not found[1] else found[3]
    return float(found[2]) * _SECONDS[unit]


_CORPORA: tuple[tuple[str, str, str, Callable[[Row], Wanted | None]], ...] = (
    ("duckling", "Numeral_EN", "number", _duckling),
    ("duckling", "Ordinal_EN", "ordinal", _duckling),
    ("duckling", "AmountOfMoney_EN", "money", _duckling_money),
    ("duckling", "Duration_EN", "duration", _duckling),
    ("duckling", "Time_EN", "datetime", _duckling_time),
    ("duckling", "Time_EN_US", "datetime", _duckling_time),
    ("duckling", "Email_EN", "email", _duckling),
    ("duckling", "PhoneNumber", "phone", _duckling),
    ("MS", "Number_NumberModel", "number", _ms),
    ("MS", "Number_OrdinalModel", "ordinal", _ms),
    ("MS", "Number_PercentModel", "percent", _ms),
    ("MS", "NumberWithUnit_CurrencyModel", "money", _ms),
    ("MS", "DateTime_DurationParser", "duration", _ms_seconds),
    ("MS", "DateTime_DateParser", "date", _ms),
    ("MS", "DateTime_TimeParser", "time", _ms),
    ("MS", "DateTime_DateTimeParser", "datetime", _ms),
    ("MS", "DateTime_HolidayParser", "date", _ms),
    ("MS", "DateTime_DateTimeModel", "datetime", _ms),
    ("MS", "Choice_BooleanModel", "yes_no", _ms),
    ("MS", "Sequence_PhoneNumberModel", "phone", _ms_phone),
    ("MS", "Sequence_EmailModel", "email", _ms),
)
