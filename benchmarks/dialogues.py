"""Whole public dialogues, scored by their own scorer: the recognizers alone, and a flow's records.

`recognizers` fills the typed slots of all services from each caller turn; `kernel` replays the
restaurant dialogues on flows/table_booking and takes what its records wrote after each turn.

    python benchmarks/dialogues.py [--misses]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from recognizer_dialogues import Slots

from flowengine.batch import Dialogue, read_calls
from flowengine.batch.playback import Playback, play
from flowengine.facts import EvidenceUpdated, KeyWritten
from flowengine.flow.load import load
from flowengine.kernel import Kernel

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data" / "dialogues"
FLOORS = {"recognizers": 0.96, "kernel": 0.85}
SEATS = ("party_size", "number_of_seats")
"""Two services, two names for one thing."""

Engine: TypeAlias = Callable[[str, Mapping[str, Any]], Mapping[str, str]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--misses", action="store_true", help="print what the kernel got wrong")
    given = parser.parse_args()
    if not (DATA / "score.py").is_file():
        print(f"skipped: the public dialogues ({DATA}) are absent")
        return 0
    scorer, path = scorer_of(DATA / "score.py"), DATA / "dialogues.jsonl"
    rows = scorer.load(str(path))
    restaurants = [row for row in rows if "Restaurants" in row["services"][0]]
    records = Records(path, [row["id"] for row in restaurants])
    results = {
        "recognizers": scorer.score(rows, Slots(scorer.kind)),
        "kernel": scorer.score(restaurants, records),
    }
    if given.misses:
        print("\n".join(misses(scorer, restaurants, Records(path, [r["id"] for r in restaurants]))))
    return max(report(name, result) for name, result in results.items())


def report(name: str, result: Mapping[str, Any]) -> int:
    """Print one result beside its floor; 1 if it lies below."""
    f1, floor = result["value_f1"], FLOORS[name]
    print(f"{name:12} value F1 {f1:.4f}  (floor {floor})  {'ok' if f1 >= floor else 'BELOW'}")
    print(f"{'':12} {json.dumps(result)}")
    return int(f1 < floor)


def scorer_of(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("score", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Records:
    """What the flow's records read in each caller turn, in the order in which a scorer asks."""

    def __init__(self, path: Path, ids: Sequence[str]) -> None:
        kernel = Kernel(load(ROOT / "flows" / "table_booking"))
        calls = {call.id: call for call in read_calls(path)}
        self._turns = (turn for id in ids for turn in _read(kernel, calls[id]))

    def __call__(self, text: str, ctx: Mapping[str, Any]) -> Mapping[str, str]:
        words, found = next(self._turns)
        assert words == text.strip(), "the scorer and the replay are at different turns"
        seats = next((slot for slot in SEATS if slot in ctx["slots"]), SEATS[0])
        named = {seats if key == SEATS[0] else key: value for key, value in found.items()}
        return {slot: value for slot, value in named.items() if slot in ctx["slots"]}


def _read(kernel: Kernel, call: Any) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Each caller turn of a dialogue: its words and the values read from them."""
    assert isinstance(call, Dialogue)
    playback = play(kernel, call, 0, {})
    found = _values(playback)
    spoken = sorted(number for number, words in playback.words.items() if words)
    for number in spoken:
        yield playback.words[number], found.get(number, {})


def _values(playback: Playback) -> Mapping[int, Mapping[str, str]]:
    """Turn -> key -> the value that the record `booking` read in that turn."""
    found: dict[int, dict[str, str]] = {}
    present: dict[str, str] = {}
    for fact in (fact for _, facts in playback.facts for fact in facts):
        if isinstance(fact, KeyWritten):
            present[fact.key] = str(fact.new)
        if isinstance(fact, KeyWritten | EvidenceUpdated) and fact.by == "record:booking":
            found.setdefault(fact.turn, {})[fact.key] = present[fact.key]
    return found


def misses(scorer: ModuleType, rows: Sequence[Mapping[str, Any]], engine: Engine) -> Iterator[str]:
    """Every turn in which the values differ from the gold ones, for reading."""
    asked: list[tuple[str, Mapping[str, str], Mapping[str, str]]] = []

    def watched(text: str, ctx: Mapping[str, Any]) -> Mapping[str, str]:
        got = engine(text, ctx)
        asked.append((text, got, ctx["state"]))
        return got

    scorer.score(rows, watched)
    gold = [scorer.gold_of(t) for row in rows for t in row["turns"] if t["speaker"] == "user"]
    for (text, got, known), wanted in zip(asked, gold, strict=True):
        if got != wanted:
            yield f"  {text[:100]!r}\n    wanted {wanted}, got {dict(got)}, known {dict(known)}"


if __name__ == "__main__":
    raise SystemExit(main())
