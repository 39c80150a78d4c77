"""What the recognizers cost on one turn, in CPU time; not a script of its own.

Other work on the machine is not counted, else a busy machine would decide about the tail.
"""

from __future__ import annotations

import json
import time
from datetime import datetime
from typing import Any

from flowengine.extract.recognizers import KINDS, Context, recognizer, utterance, warm_up


def speed(texts: list[str]) -> None:
    """Prints the costs of all kinds on one turn, of each alone, and of hostile input."""
    readers = [_every(kind) for kind in KINDS]
    context = Context(ref=datetime(2026, 3, 4, 10, 30))
    warm_up()
    warm_up("en-GB")
    _run(texts[0], readers, context)
    costs = sorted(_run(text, readers, context) for text in texts)
    alone = {kind: _alone(_every(kind), texts[:400], context) for kind in KINDS}
    print("  each kind, median µs with the pre-pass:", json.dumps(alone))
    for share, floor in ((0.5, 150), (0.99, 1000)):
        cost = costs[int(len(costs) * share)]
        print(f"  all {len(readers)} kinds, one turn, p{share * 100:g}: {cost:.0f} µs (<= {floor})")
    for text in HOSTILE:
        cost = min(_run(text, readers, context) for _ in range(3))
        print(f"  hostile {text[:24]!r} x {len(text)}: {cost / 1000:.2f} ms (<= 5)")


HOSTILE = [
    (part * 5000)[:5000]
    for part in (
        "a at a ", "one ", "twenty ", "no wait ", "double ", "at ", "s w one ", "1", "march 3 ",
        "of the ", "$",
    )
]  # fmt: skip


def _every(kind: str) -> Any:
    options = {
        "integer_near": {"anchors": ["want", "get"]},
        "one_of": {"options": ["pizza", "salad", "soup"]},
        "fuzzy": {"options": ["Johnson", "Jackson"]},
        "regex": {"pattern": r"\b([a-z]{2}\d{4})\b"},
    }
    return recognizer(kind, **options.get(kind, {}))


def _run(text: str, readers: list[Any], context: Context) -> float:
    start = time.thread_time_ns()
    said = utterance(text)
    for reader in readers:
        reader.recognize(said, context)
    return (time.thread_time_ns() - start) / 1000


def _alone(reader: Any, texts: list[str], context: Context) -> float:
    costs = sorted(_run(text, [reader], context) for text in texts)
    return round(costs[len(costs) // 2], 1)
