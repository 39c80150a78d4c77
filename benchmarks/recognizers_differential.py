"""The recognizers beside duckling, on the same spoken turns: who is right, and at what cost.

    pip install pyduckling-native-phihos    # Linux on x86-64
    python benchmarks/recognizers_differential.py [--misses]

Dates and times of the public sets with their gold values; without the package there is no peer.
"""

from __future__ import annotations

import argparse
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from recognizer_data import Row, reference, rows_of

from flowengine.extract.recognizers import recognize, warm_up

try:
    import duckling
except ImportError:
    duckling = None

ZONES = "/usr/share/zoneinfo"
Reader = Callable[[str], list[str]]


def own(row: Row) -> Reader:
    ref = reference(row)
    return lambda text: [one.value for one in recognize("datetime", text, ref=ref)]


def peer(row: Row, zones: Any) -> Reader:
    ref = reference(row) or datetime(2026, 3, 4)
    when = duckling.parse_ref_time(zones, "UTC", int(ref.timestamp()))
    locale = duckling.parse_locale("EN_US", duckling.default_locale_lang(duckling.parse_lang("EN")))
    context = duckling.Context(when, locale)
    dimensions = duckling.parse_dimensions(["Time"])
    return lambda text: [
        moment for one in duckling.parse(text, context, dimensions) for moment in _moments(one)
    ]


def _moments(found: dict[str, Any]) -> Iterator[str]:
    """Its value, or both ends of its span, in our form: date, time or both, by the grain."""
    value = found["value"]
    for point in (value, value.get("from"), value.get("to")):
        at = re.match(r"(\d{4}-\d\d-\d\d)(T\d\d:\d\d)", str((point or {}).get("value")))
        if at:
            whole = point.get("grain") in ("day", "week", "month", "quarter", "year")
            yield at[1] if whole else at[0]


def is_right(gold: list[str], values: list[str]) -> bool:
    """Every part that the gold has; on twelve hours, as the half of the day is a guess."""
    return any(_same(want, value) for want in gold for value in values)


def _same(want: str, value: str) -> bool:
    (date, clock), (got_date, got_clock) = _parts(want), _parts(value)
    return date in ("", got_date) and (not clock or (bool(got_clock) and clock == got_clock))


def _parts(value: str) -> tuple[str, tuple[int, int] | None]:
    date, _, clock = value.partition("T") if "-" in value else ("", "", value)
    if not clock:
        return date, None
    hour, minute = clock[:5].split(":")
    return date, (int(hour) % 12, int(minute))


def _timed(read: Reader, text: str) -> tuple[list[str], float]:
    start = time.perf_counter()
    values = read(text)
    return values, time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", action="store_true", help="print where only one is right")
    show = parser.parse_args().misses
    if duckling is None:
        print("duckling is not installed: pip install pyduckling-native-phihos")
        return
    zones = duckling.load_time_zones(ZONES)
    warm_up()
    for source in ("sgd", "nlupp"):
        _compare(source, rows_of("values/spoken.jsonl", cat="datetime", set=source), zones, show)


def _compare(source: str, rows: list[Row], zones: Any, show: bool) -> None:
    tally, ratios = Counter[str](), list[float]()
    for row in rows:
        ours, cost = _timed(own(row), row["input"])
        theirs, their_cost = _timed(peer(row, zones), row["input"])
        ratios.append(their_cost / cost)
        gold = row["gold"] or []
        right = [is_right(gold, got) if gold else not got for got in (ours, theirs)]
        who = {(1, 1): "both", (1, 0): "own only", (0, 1): "duckling only"}.get(
            (right[0], right[1]), "neither"
        )
        tally[who] += 1
        if show and who not in ("both", "neither"):
            print(f"    {who}: {row['input'][:100]!r} gold {gold}, own {ours}, duckling {theirs}")
    print(f"{source}: {dict(tally)} of {len(rows)}; duckling takes {statistics.median(ratios):.1f} "
          "times as long (median)")  # fmt: skip


if __name__ == "__main__":
    main()
