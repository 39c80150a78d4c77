"""How accurate and how fast the recognizers are: every floor by category, with the misses.

    python benchmarks/recognizers.py [--misses] [SECTION...]

The data is read from `../shared/data` beside the repository; sections without data are skipped.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime

from recognizer_corpora import corpora
from recognizer_data import DATA, Row, Score, reference, rows_of
from recognizer_dialogues import Slots
from recognizer_speed import speed

from flowengine.extract.recognizers import Context, Recognition, recognize, recognizer, utterance

# Date and time


def same_moment(gold: str, value: str) -> bool:
    """The parts that the gold has, date or time, must be right."""
    date, time_ = _parts(gold)
    got_date, got_time = _parts(value)
    return date in ("", got_date) and time_ in ("", got_time)


def _parts(value: str) -> tuple[str, str]:
    if "T" in value:
        date, _, time_ = value.partition("T")
        return date, time_
    return (value, "") if "-" in value else ("", value)


def moments(
    rows: Iterable[Row], name: str, floors: tuple[float, float], locale: str
) -> list[Score]:
    found, empty = Score(name, floors[0]), Score(f"{name}, negatives left empty", floors[1])
    for row in rows:
        gold = row.get("gold", row.get("expected"))
        got = recognize(
            "datetime", row["input"], ref=reference(row), tz=row.get("tz"), locale=locale
        )
        values = [one.value for one in got]
        if not gold:
            empty.add(not got, row, values)
            continue
        wanted = [gold] if isinstance(gold, str) else gold
        found.add(any(same_moment(g, v) for g in wanted for v in values), row, values)
    return [found, empty] if empty.rows else [found]


# Our own call cases

CALL_KINDS = {"alnum": "letters", "postal": "postal_code", "dob": "date_of_birth"}


def call_cases() -> Iterator[Score]:
    rows = rows_of("recognizers/call_cases.jsonl")
    for category in dict.fromkeys(row["category"] for row in rows):
        score = Score(f"call {category}", 97)
        for row in rows:
            if row["category"] == category:
                hit, got = call_case(category, row)
                score.add(hit, row, got)
        yield score


def call_case(category: str, row: Row) -> tuple[bool, object]:
    kind, expected = CALL_KINDS.get(category, category), row["expected"]
    ref = reference(row) or datetime(2026, 3, 4, 10, 30)
    got = [one.value for one in recognize(kind, row["input"], ref=ref, tz=row.get("tz"))]
    if category in ("number", "money"):
        amounts = [float(value) for value in got]
        kept = bool(amounts) and amounts[0] == expected[-1] and set(amounts) <= set(expected)
        return amounts == expected or (bool(expected) and kept), got
    if category == "yes_no":
        answer = "unsure" if not got else "yes" if got[0] else "no"
        return answer == expected, answer
    if expected is None:
        return not got, got
    accepted = expected if isinstance(expected, list) else [expected]
    if category == "datetime":
        return bool(got) and any(same_moment(one, got[0]) for one in accepted), got
    return bool(got) and got[0] in accepted, got


# Values of the public sets


def values() -> Iterator[Score]:
    spoken = rows_of("values/spoken.jsonl", cat="datetime")
    yield from moments(
        (r for r in spoken if r["set"] == "sgd"), "spoken SGD datetime", (96, 99.5), "en-US"
    )
    yield from moments(
        (r for r in spoken if r["set"] == "nlupp"), "spoken NLU++ datetime", (86, 99.5), "en-GB"
    )
    yield from moments(
        rows_of("values/sgd.jsonl", cat="datetime"), "SGD datetime", (97, 99), "en-US"
    )
    yield from moments(
        rows_of("values/nlupp.jsonl", cat="datetime"), "NLU++ datetime", (88, 99), "en-GB"
    )
    for path, name in (("values/sgd.jsonl", "SGD"), ("values/nlupp.jsonl", "NLU++")):
        for category in ("money", "number"):
            floor = 99 if name == "SGD" else None
            yield gold_among(rows_of(path, cat=category), category, f"{name} {category}", floor)
    yield from yes_no(rows_of("values/sgd.jsonl", cat="yes_no"), "SGD yes_no")
    yield from yes_no(rows_of("values/spoken.jsonl", cat="yes_no"), "spoken SGD yes_no")


def gold_among(rows: Iterable[Row], kind: str, name: str, floor: float | None) -> Score:
    score = Score(f"{name}, gold among values", floor)
    for row in rows:
        if row["gold"]:
            got = [float(one.value) for one in recognize(kind, row["input"])]
            score.add(all(value in got for value in row["gold"]), row, got)
    return score


def yes_no(rows: Iterable[Row], name: str) -> Iterator[Score]:
    right, kept = Score(name, 92), Score(f"{name}, polarity not flipped", 99.2)
    for row in rows:
        got = recognize("yes_no", row["input"])
        answer = "unsure" if not got else "yes" if got[0].value else "no"
        right.add(answer == row["gold"], row, answer)
        if row["gold"] != "unsure":
            kept.add(answer in ("unsure", row["gold"]), row, answer)
    yield from (right, kept)


# Real telephone calls


def calls() -> Iterator[Score]:
    for category, kind, floors in (
        ("dob", "date_of_birth", (78, 85)),
        ("postcode", "postal_code", (None, 50)),
    ):
        first = Score(f"EVI {category}, 1-best", floors[0])
        any_ = Score(f"EVI {category}, any of n-best", floors[1])
        offered = Score(f"EVI {category}, value or alternative")
        for row in rows_of("values/evi.jsonl", cat=category):
            gold = [row["gold"]] if isinstance(row["gold"], str) else row["gold"]
            alone = [_evi(kind, text, row) for text in (row["input"], *row["ctx"])]
            read = [got[0].value if got else None for got in alone]
            first.add(read[0] in gold, row, read[0])
            any_.add(any(value in gold for value in read), row, read)
            together = _evi(kind, row["input"], row, row["ctx"])
            values = [value for one in together[:1] for value in (one.value, *one.alternatives)]
            offered.add(any(value in gold for value in values), row, values)
        yield from (first, any_, offered)


def _evi(kind: str, text: str, row: Row, others: Sequence[str] = ()) -> list[Recognition]:
    return recognize(
        kind, text, asked=True, locale="en-GB", ref=reference(row), alternatives=others
    )


# Restaurants, with the slot just asked

PEOPLE = recognizer(
    "integer_near",
    ["people", "person", "guest", "adult", "kid", "child", "children", "of us", "party of",
     "table for", "party", "seat", "diner", "total", "human", "friend", "man", "men", "women",
     "for", "of", "group", "us", "make that", "count", "just", "only", "size"],
    max=200,
    window=2,
)  # fmt: skip
TIME = recognizer("time", hours=[11, 23])
_SMALL = [
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
]


def restaurants() -> Iterator[Score]:
    people, times = Score("RESTAURANTS-8K people", 95), Score("RESTAURANTS-8K time", 95)
    for row in rows_of("values/r8k.jsonl"):
        said = utterance(row["input"])
        asked = row.get("ctx") or []
        gold = _count(row["gold"].get("people", ""))
        if gold is not None:
            got = PEOPLE.recognize(said, Context(focus="people" in asked))
            people.add(bool(got) and got[0].value == gold, row, [one.value for one in got])
        clock = _clock(row["gold"].get("time", ""))
        if clock is not None:
            focus = "time" in asked if asked else None
            got = TIME.recognize(
                said,
                Context(asked="time" if focus else None, focus=focus, ref=datetime(2018, 8, 1, 12)),
            )
            hit = any(_on_12_hours(one.value) == clock for one in got[:1])
            times.add(hit, row, [one.value for one in got])
    yield from (people, times)


def _count(text: str) -> int | None:
    """The head count of a gold span that holds exactly one number and nobody besides."""
    numbers = re.findall(r"\d+|\b(?:" + "|".join(_SMALL) + r")\b", text.lower())
    if len(numbers) != 1 or re.search(r"\b(and|plus|me|my|i)\b|,", text.lower()):
        return None
    return int(numbers[0]) if numbers[0].isdecimal() else _SMALL.index(numbers[0]) + 1


def _clock(text: str) -> tuple[int, int] | None:
    """A gold span such as "7:15PM" or "1915" on twelve hours; the set gives no more."""
    if re.search(r"past|after|before|to |in |now", text.lower()):
        return None
    found = re.search(r"(\d{1,2})[:.h]?(\d{2})?(?!\d)", text)
    return (int(found[1]) % 12, int(found[2] or 0)) if found else None


def _on_12_hours(value: str) -> tuple[int, int]:
    hour, minute = value.split(":")
    return int(hour) % 12, int(minute)


# Whole dialogues


def dialogues() -> Iterator[Score]:
    path = DATA / "dialogues" / "score.py"
    spec = importlib.util.spec_from_file_location("score", path)
    if spec is None or spec.loader is None or not path.exists():
        return
    scorer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(scorer)
    result = scorer.score(scorer.load(str(path.parent / "dialogues.jsonl")), Slots(scorer.kind))
    print(f"  dialogues {json.dumps(result)}")
    f1 = Score("dialogues value F1 (per 10,000)", 96)
    f1.hits, f1.rows = round(result["value_f1"] * 10_000), 10_000
    yield f1


def costs() -> Iterator[Score]:
    speed([row["input"] for row in rows_of("values/spoken.jsonl")])
    yield from ()


SECTIONS: dict[str, Callable[[], Iterator[Score]]] = {
    "call": call_cases,
    "values": values,
    "evi": calls,
    "r8k": restaurants,
    "dialogues": dialogues,
    "corpora": corpora,
    "speed": costs,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", help=", ".join(SECTIONS))
    parser.add_argument("--misses", action="store_true", help="print every miss")
    given = parser.parse_args()
    below = 0
    for name in given.sections or SECTIONS:
        print(name)
        for score in SECTIONS[name]():
            line = score.line(given.misses)
            below += "BELOW" in line.partition("\n")[0]
            print(line)
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
