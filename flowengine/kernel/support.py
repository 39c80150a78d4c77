"""What supports a model's values: the caller's words of the turns that it was shown.

A supported value is evidence of the turn and the words in which it was said; one that is not keeps
the turn that the model was asked about, and no span. It costs no call of a model.
"""

from __future__ import annotations

from collections.abc import Iterator

from flowengine.extract.compiled import CompiledExtract
from flowengine.extract.grounding import CallerWords, Grounded
from flowengine.extract.grounding.sameness import same
from flowengine.extract.record.compiled import Finding
from flowengine.extract.spec import QUOTE, Promotion
from flowengine.inputs import Json
from flowengine.kernel.reading import setting_of
from flowengine.kernel.snapshot import Staged
from flowengine.kernel.work import Work


def supported(
    work: Work, extractor: CompiledExtract, staged: Staged
) -> Iterator[tuple[Finding, bool]]:
    """Each field with whether the caller's words support it, and then with where they do."""
    words: CallerWords | None = None
    for finding in staged.fields:
        field = finding.field
        rule = extractor.rules.get(field)
        if field in extractor.quotes:
            continue
        if rule is not None and rule.grounding == "accept":
            yield finding, True
        elif field in extractor.inferred and not (rule is not None and rule.quote):
            yield finding, False
        else:
            words = words or _words(work, extractor, staged)
            found = _found(finding, rule, extractor, staged, words)
            yield _placed(finding, found), found is not None


def is_restated(work: Work, present: Json, value: Json) -> bool:
    """The known value in other words: taking it for news would make it a correction."""
    if present is None or present == value:
        return False
    setting = setting_of(work)
    return same(present, value, locale=setting.locale, ref=setting.ref, timezone=setting.timezone)


def _found(
    finding: Finding,
    rule: Promotion | None,
    extractor: CompiledExtract,
    staged: Staged,
    words: CallerWords,
) -> Grounded | None:
    field = finding.field
    if rule is None or not rule.quote:
        return words.ground(finding.value, extractor.schema(field), field)
    quote = next((f.value for f in staged.fields if f.field == f"{field}{QUOTE}"), None)
    return words.quote(quote, field, finding.value) if isinstance(quote, str) else None


def _placed(finding: Finding, found: Grounded | None) -> Finding:
    if found is None:
        return finding
    return finding._replace(
        speaker="caller", turn=found.turn, span=found.span, confidence=found.confidence,
        rule=found.rule,
    )  # fmt: skip


def _words(work: Work, extractor: CompiledExtract, staged: Staged) -> CallerWords:
    """Those that the model was shown, and what was said since: it may take a value back."""
    first = staged.turn - extractor.spec.window
    return CallerWords(work.transcript.after(first), setting_of(work))
