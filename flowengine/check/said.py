"""Which keys hold what a model made of the conversation, and whether their words can be found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from flowengine.extract.grounding.inferred import is_inferred
from flowengine.extract.spec import ExtractSpec, Promotion, fields_of
from flowengine.flow.index import Index
from flowengine.flow.uses import root_of, writes
from flowengine.state.keys import bare


class Landing(NamedTuple):
    """One field of a model extraction on its way to a key; without a rule it becomes `derived:`."""

    extract: ExtractSpec
    field: str
    rule: Promotion | None
    place: tuple[int, int | None]
    """The extraction's position, and its rule's."""

    @property
    def can_be_grounded(self) -> bool:
        """Whether the value is ever looked up in the caller's words."""
        if self.rule is not None and self.rule.grounding == "accept":
            return False
        is_quoted = self.rule is not None and self.rule.quote
        return is_quoted or not is_inferred(fields_of(self.extract).get(self.field, {}))


class Said:
    """What the model extractions of a flow write."""

    def __init__(self, index: Index) -> None:
        self._flow = index.flow
        self._landings: dict[str, list[Landing]] = {}
        for key, landing in _landings(index):
            if self._may_write(key, landing.extract.name):
                self._landings.setdefault(key, []).append(landing)
        models = {f"extractor:{spec.name}" for spec in index.flow.extract}
        others = (use for use in writes(index) if use.by and use.by not in models)
        self._others: dict[str, set[str]] = {}
        for use in others:
            self._others.setdefault(bare(use.key), set()).add(use.by)

    def landings(self, name: str) -> list[Landing]:
        """The fields that a read of this name may find."""
        return self._landings.get(root_of(name, self._landings) or "", [])

    def other_writers(self, name: str) -> set[str]:
        """Whoever else writes it, as a key's `writers` spell them."""
        spec = self._flow.state.get(bare(name))
        return self._others.get(bare(name), set()) | set(spec.writers if spec else ())

    def _may_write(self, key: str, extractor: str) -> bool:
        spec = self._flow.state.get(key)
        owned = spec is not None and spec.writers and f"extractor:{extractor}" not in spec.writers
        return spec is None or not (spec.trusted or owned)


def _landings(index: Index) -> Iterator[tuple[str, Landing]]:
    for at, extract in enumerate(index.flow.extract):
        for field in fields_of(extract):
            yield f"{extract.name}.{field}", Landing(extract, field, None, (at, None))
            if not extract.promote:
                yield bare(field), Landing(extract, field, None, (at, None))
        for number, rule in enumerate(extract.promote):
            key = bare(rule.to or rule.field)
            yield key, Landing(extract, rule.field, rule, (at, number))
