"""What supports a model's values: the caller's words of the turns that it was shown.

A supported value is evidence of the turn and the words in which it was said; one that is not keeps
the turn that the model was asked about, and no span. It costs no call of a model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from flowengine.extract.grounding import CallerWords, Grounded
from flowengine.extract.inferred import is_inferred
from flowengine.extract.meaning import Setting
from flowengine.extract.record import Finding
from flowengine.extract.sameness import same
from flowengine.extract.spec import ExtractSpec, Promotion
from flowengine.inputs import Json
from flowengine.kernel.reading import hear, locale_of
from flowengine.kernel.snapshot import Staged
from flowengine.kernel.work import Work
from flowengine.llm.data import Schema

QUOTE = "_quote"
"""The sibling of a field that holds the caller's words for it."""


def supported(work: Work, spec: ExtractSpec, staged: Staged) -> Iterator[tuple[Finding, bool]]:
    """Each field with whether the caller's words support it, and then with where they do."""
    rules = {rule.field: rule for rule in spec.promote}
    quotes = {f"{rule.field}{QUOTE}" for rule in spec.promote if rule.quote}
    given = {finding.field: finding.value for finding in staged.fields}
    words: CallerWords | None = None
    for finding in staged.fields:
        rule = rules.get(finding.field)
        if finding.field in quotes:
            continue
        if rule is not None and rule.grounding == "accept":
            yield finding, True
            continue
        words = words or _words(work, spec, staged)
        found = _found(finding, rule, _schema(spec, finding.field), given, words)
        yield _placed(finding, found), found is not None


def is_restated(work: Work, present: Json, value: Json) -> bool:
    """The known value in other words: taking it for news would make it a correction."""
    if present is None or present == value:
        return False
    hearing = hear(work, "")
    return same(present, value, locale=hearing.locale, ref=hearing.ref, timezone=hearing.timezone)


def _found(
    finding: Finding,
    rule: Promotion | None,
    schema: Schema,
    given: Mapping[str, Json],
    words: CallerWords,
) -> Grounded | None:
    if rule is not None and rule.quote:
        quote = given.get(f"{finding.field}{QUOTE}")
        return words.quote(quote, finding.field, finding.value) if isinstance(quote, str) else None
    if is_inferred(schema):
        return None
    return words.ground(finding.value, schema, finding.field)


def _placed(finding: Finding, found: Grounded | None) -> Finding:
    if found is None:
        return finding
    return finding._replace(
        speaker="caller", turn=found.turn, span=found.span, confidence=found.confidence,
        rule=found.rule,
    )  # fmt: skip


def _words(work: Work, spec: ExtractSpec, staged: Staged) -> CallerWords:
    """Those that the model was shown, and what was said since: it may take a value back."""
    said, hearing = work.transcript, hear(work, "")
    first = staged.turn - spec.window
    turns = [turn for turn in (*said.turns, said.current) if turn.number > first]
    return CallerWords(turns, Setting(locale_of(work), hearing.ref, hearing.timezone))


def _schema(spec: ExtractSpec, field: str) -> Schema:
    fields: dict[str, Any] = spec.schema_.get("properties", {})
    found = fields.get(field)
    return cast("Schema", found) if isinstance(found, dict) else {}
