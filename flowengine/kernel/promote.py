"""From findings to keys: each field's policy decides, and the decision is a fact."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flowengine.errors import OwnershipError, WrongTypeError
from flowengine.extract.record.compiled import CompiledRecord, Finding
from flowengine.extract.spec import FieldSpec, Policy, Promotion
from flowengine.facts import Corrected, PromotionDecided
from flowengine.inputs import Json
from flowengine.kernel.completing import complete
from flowengine.kernel.ledger import overtake
from flowengine.kernel.snapshot import Staged
from flowengine.kernel.support import is_restated, supported
from flowengine.kernel.work import Work
from flowengine.resolve.spec import Resolver
from flowengine.state.evidence import Evidence
from flowengine.state.keys import bare

MARK = "confirm:"


def land(
    work: Work, batch: Iterable[Staged], *, late: bool = False, turn: int | None = None
) -> None:
    """Promote everything that a turn's extractors brought, in their declared order.

    `turn` is the one that is being settled, if another has closed since: its values are news.
    """
    newest = _newest(work) if turn is None else turn
    corrected: set[str] = set()
    landed: set[str] = set()
    for staged in batch:
        kind, _, name = staged.source.partition(":")
        if kind != "record":
            _land_extraction(work, staged, name, corrected, late, newest)
        elif _land_record(work, staged, name, corrected, late, newest):
            landed.add(name)
    if corrected:
        correct(work, frozenset(corrected))
    if landed:
        complete(work, frozenset(landed))


def would_land(work: Work, record: CompiledRecord, finding: Finding) -> bool:
    """Whether the finding would be taken, were it landed now."""
    field = record.fields[finding.field]
    policy, present = policy_of(field.spec), work.values.get(field.key)
    if _refusal(policy, present, finding.value, True):
        return False
    return _is_accepted(work, f"record:{record.name}", finding)


def _land_record(
    work: Work, staged: Staged, name: str, corrected: set[str], late: bool, newest: int
) -> bool:
    """Whether any field was taken."""
    record = next(record for record in work.flow.records if record.name == name)
    landed = False
    for finding in staged.fields:
        field = record.fields[finding.field]
        if late and _is_over(work, field.key, staged.turn):
            continue
        accepted = _promote(
            work, staged, finding, field.key, policy_of(field.spec), corrected, newest
        )
        landed |= accepted
        low = field.spec.confirm_below
        if accepted and low is not None:
            unsure = finding.confidence < low
            work.put(MARK + field.key, True if unsure else None, staged.source)
    return landed


def policy_of(spec: FieldSpec) -> Policy:
    """What was resolved anew replaces what was resolved before, unless the field says otherwise."""
    return spec.policy or ("correct" if spec.resolve is None else "overwrite")


def _land_extraction(
    work: Work, staged: Staged, name: str, corrected: set[str], late: bool, newest: int
) -> None:
    extractor = work.flow.extractors[name]
    kept: dict[str, Json] = {}
    for finding, grounded in supported(work, extractor, staged):
        rule = extractor.rules.get(finding.field)
        key = (rule.to or rule.field) if rule else ""
        if late and _is_over(work, key, staged.turn):
            continue
        if rule is None and extractor.rules:
            continue
        if _land_field(work, staged, finding, rule, grounded, corrected, newest):
            kept[finding.field] = finding.value
    if kept and not work.keys.spec(name).owned:
        work.write_derived(name, kept, Evidence(staged.source, staged.turn, staged.order))


def _land_field(
    work: Work,
    staged: Staged,
    finding: Finding,
    rule: Promotion | None,
    grounded: bool,
    corrected: set[str],
    newest: int,
) -> bool:
    if rule is None:
        key = f"derived:{finding.field}"
        return _promote(work, staged, finding, key, "overwrite", corrected, newest)
    key = rule.to or rule.field
    if rule.after_presented and work.find(f"presented:{rule.after_presented}") is not True:
        return _decide(work, staged, finding, key, "not presented")
    if rule.grounding == "reject" and not grounded:
        return _decide(work, staged, finding, key, "ungrounded")
    return _promote(work, staged, finding, key, rule.policy, corrected, newest)


def _is_over(work: Work, key: str, turn: int) -> bool:
    """A late value for a turn or a phase that has ended has nowhere to go."""
    if key.startswith("turn:"):
        return turn < work.transcript.current.number
    since = sum(1 for other in work.transcript.turns if other.user and other.number > turn)
    entered = work.place.entered.get(work.main_leaf(), (0, 0))
    return key.startswith("phase:") and entered[1] >= work.turns - since


def _promote(
    work: Work,
    staged: Staged,
    finding: Finding,
    key: str,
    policy: Policy,
    corrected: set[str],
    newest: int,
) -> bool:
    present = work.values.get(key)
    if bare(key) in work.flow.flow.computed:
        return _decide(work, staged, finding, key, "computed")
    if staged.source.startswith("extractor:") and is_restated(work, present, finding.value):
        return _decide(work, staged, finding, key, "known in other words")
    refusal = _refusal(policy, present, finding.value, finding.turn >= newest)
    if not refusal and not _is_accepted(work, staged.source, finding):
        refusal = "not accepted now"
    if refusal:
        return _decide(work, staged, finding, key, refusal)
    evidence = Evidence(
        staged.source, finding.turn, staged.order, finding.speaker, finding.span,
        finding.confidence, finding.rule,
    )  # fmt: skip
    try:
        accepted = work.offer(key, finding.value, evidence)
    except WrongTypeError:
        return _decide(work, staged, finding, key, "wrong type")
    except OwnershipError:
        return _decide(work, staged, finding, key, "not a writer")
    if not accepted:
        return _decide(work, staged, finding, key, "newer value kept")
    if present is not None and work.values.get(key) != present and key in work.flow.needed:
        corrected.add(key)
    return _decide(work, staged, finding, key, "")


class _Offered:
    """A step's State with the offered value in it, as `value`."""

    __slots__ = ("_work", "values")

    def __init__(self, work: Work, value: Json) -> None:
        self._work = work
        self.values = {**work.values, "value": value}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._work, name)


def _is_accepted(work: Work, source: str, finding: Finding) -> bool:
    guard = work.flow.accepts.get((source, finding.field))
    return guard is None or guard.test(_Offered(work, finding.value))  # pyright: ignore[reportArgumentType]


def _newest(work: Work) -> int:
    turns = work.transcript.turns
    return turns[-1].number if turns else 0


def _refusal(policy: Policy, present: Json, value: Json, newest: bool) -> str:
    """Why a policy keeps the present value; empty if it does not."""
    if value is None:
        return "null"
    if policy == "true_only" and value is not True:
        return "not true"
    if policy == "non_empty" and value in ("", [], {}):
        return "empty"
    if present is None or policy in ("overwrite", "true_only", "non_empty"):
        return ""
    if policy == "keep_known":
        return "existing kept"
    return "" if newest else "not in the newest turn"


def _decide(work: Work, staged: Staged, finding: Finding, key: str, refusal: str) -> bool:
    accepted = not refusal
    work.facts.append(
        PromotionDecided(staged.source, finding.field, key, accepted, refusal or "accepted")
    )
    return accepted


def correct(work: Work, keys: frozenset[str]) -> None:
    """A captured value was changed: what rested on the old one is cleared."""
    for key in sorted(keys):
        cleared = [k for k in work.flow.dependents.get(key, ()) if k in work.values]
        for name in cleared:
            work.clear(name)
        _forget_results(work, key)
        overtake(work, key)
        work.facts.append(Corrected(key, tuple(cleared)))
        work.touched.add(f"@corrected:{key}")
    work.corrected_keys |= keys


def _rests_on(spec: Resolver, key: str) -> bool:
    return any(name == key or name.startswith(f"{key}.") for name in spec.reads)


def _forget_results(work: Work, key: str) -> None:
    """Results of resolvers whose arguments read the key answer another question now."""
    for name, spec in work.flow.flow.resolvers.items():
        if name in work.wait.resolved and _rests_on(spec, key):
            resolved = {k: v for k, v in work.wait.resolved.items() if k != name}
            work.wait = work.wait._replace(resolved=resolved)
            work.note(f"{name}:result", None)
            work.touched.add(f"@resolved:{name}")
