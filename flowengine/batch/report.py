"""What became of a replayed call, and of all of them together: plain data for people and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from flowengine.batch.calls import Dialogue, Recording
from flowengine.batch.compare import Difference, first_difference
from flowengine.batch.playback import Playback
from flowengine.facts import MASK, EvidenceUpdated, InputFailed, KeyWritten
from flowengine.inputs import Json
from flowengine.state.evidence import Evidence

_SOURCES = ("record:", "extractor:", "tool:", "channel")
"""Writers that capture something; what the flow itself writes follows from it."""
Spans = Mapping[int, list[tuple[int, int]]]


class Captured(NamedTuple):
    """A value at the end of the call; `words` are the caller's own, empty if it was not said."""

    value: Json
    words: str
    turn: int
    confidence: float
    by: str


class Failed(NamedTuple):
    """An input whose consequences were rolled back."""

    input: str
    code: str
    place: str


@dataclass(frozen=True, slots=True)
class CallReport:
    """One call. Values of pii keys and the words they came from are masked, unless revealed."""

    id: str
    place: str
    turns: int = 0
    """Turns in which the caller spoke."""
    phases: tuple[tuple[str, int], ...] = ()
    """The path: each phase entered, and the newest turn that had closed by then."""
    captured: Mapping[str, Captured] = field(default_factory=dict[str, Captured])
    unmet: tuple[str, ...] = ()
    """What the last phase still needs."""
    ended: bool = False
    failed: tuple[Failed, ...] = ()
    facts: int = 0
    difference: Difference | None = None
    """Where the facts part from recorded ones."""
    error: str = ""
    """Why the call could not be replayed; the rest is empty then."""

    def to_json(self) -> dict[str, Any]:
        data = asdict(self)
        data["phases"] = [{"phase": phase, "turn": turn} for phase, turn in self.phases]
        data["captured"] = {key: each._asdict() for key, each in self.captured.items()}
        data["failed"] = [each._asdict() for each in self.failed]
        data["difference"] = self.difference and self.difference._asdict()
        return data


def report_of(call: Dialogue | Recording, playback: Playback, *, reveal: bool) -> CallReport:
    """What is to be told of a call that has been played."""
    snapshot = playback.snapshot
    facts = [fact for _, step in playback.facts for fact in step]
    recorded = call.facts if isinstance(call, Recording) else ()
    return CallReport(
        id=call.id,
        place=call.place,
        turns=snapshot.turns,
        phases=tuple(playback.path),
        captured=_captured(playback, {} if reveal else _secret_spans(playback), reveal),
        unmet=playback.kernel.context(snapshot).unmet,
        ended=snapshot.place.ended,
        failed=tuple(Failed(*fact) for fact in facts if isinstance(fact, InputFailed)),
        facts=len(facts),
        difference=first_difference(recorded, playback.facts) if recorded else None,
    )


def _captured(playback: Playback, secret: Spans, reveal: bool) -> dict[str, Captured]:
    snapshot, keys = playback.snapshot, playback.kernel.compiled.keys
    extractors = {spec.name for spec in playback.kernel.compiled.flow.extract}
    found: dict[str, Captured] = {}
    for key, value in snapshot.values.items():
        evidence = snapshot.evidence.get(key)
        if evidence is None or not evidence.by.startswith(_SOURCES):
            continue
        if key.removeprefix("derived:") in extractors:
            continue  # the whole object that an extractor brought; its fields are listed
        masked = keys.slots[key].pii and not reveal
        words = MASK if masked else _words(playback, evidence, secret)
        found[key] = Captured(
            MASK if masked else value, words, evidence.turn, evidence.confidence, evidence.by
        )
    return dict(sorted(found.items()))


def _words(playback: Playback, evidence: Evidence, secret: Spans) -> str:
    """The caller's words behind a value, unless a secret was said in them."""
    if evidence.span is None:
        return ""
    start, end = evidence.span
    if any(a < end and start < b for a, b in secret.get(evidence.turn, ())):
        return MASK
    return playback.words.get(evidence.turn, "")[start:end]


def _secret_spans(playback: Playback) -> Spans:
    """Turn -> where in the caller's words a pii value was ever read."""
    keys = playback.kernel.compiled.keys
    spans: dict[int, list[tuple[int, int]]] = {}
    for _, facts in playback.facts:
        for fact in facts:
            if isinstance(fact, KeyWritten | EvidenceUpdated) and keys.slots[fact.key].pii:
                spans.setdefault(fact.turn, []).extend([fact.span] if fact.span else [])
    return spans


@dataclass(frozen=True, slots=True)
class Summary:
    """All calls together; phases and keys with the number of calls that have them."""

    calls: int
    replayed: int
    turns: int
    ended: int
    phases: Mapping[str, int]
    captured: Mapping[str, int]
    with_unmet: int
    with_failures: int
    different: int
    errors: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def summary_of(reports: Iterable[CallReport]) -> Summary:
    """Count; phases and keys in the order in which calls first reached them."""
    reports = list(reports)
    good = [report for report in reports if not report.error]
    return Summary(
        calls=len(reports),
        replayed=len(good),
        turns=sum(report.turns for report in good),
        ended=sum(report.ended for report in good),
        phases=dict(Counter(p for r in good for p in dict.fromkeys(p for p, _ in r.phases))),
        captured=dict(Counter(key for report in good for key in report.captured)),
        with_unmet=sum(bool(report.unmet) for report in good),
        with_failures=sum(bool(report.failed) for report in good),
        different=sum(report.difference is not None for report in good),
        errors=len(reports) - len(good),
    )
