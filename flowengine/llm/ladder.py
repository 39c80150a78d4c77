"""What an extraction falls back to: the next mode after a refusal, a looser schema after a 400."""

from __future__ import annotations

from typing import Any

from flowengine.llm.errors import InvalidRequest, Refusal, SchemaRejected
from flowengine.llm.metadata import AutoFallback, Fallback
from flowengine.llm.relax import LOOSEST, relax
from flowengine.llm.schema import Target
from flowengine.llm.vocabulary import ExtractionMode


class Ladder:
    """The modes and schema levels left to one extraction.

    `known` maps (provider, model, schema name, schema) to the level that worked before, and is
    shared by the extractions of one extractor.
    """

    def __init__(
        self,
        asked: ExtractionMode,
        modes: tuple[ExtractionMode, ...],
        target: Target[Any],
        known: dict[str, int],
        key: str,
    ) -> None:
        self.asked = asked
        self.mode = modes[0] if modes else None
        self.level = known.get(key, 0)
        self._others = list(modes[1:])
        self._target = target
        self._known = known
        self._key = key

    def refused(self, refusal: Refusal) -> AutoFallback | None:
        """The next mode after one that was refused before sending; none for an explicit mode."""
        if self.mode is None or not self._others:
            return None
        before, self.mode = self.mode, self._others.pop(0)
        return AutoFallback(
            from_mode=before, to_mode=self.mode, reason=refusal.message, code=refusal.code
        )

    def loosen(self, error: BaseException) -> Fallback | None:
        """The next step after a sent request whose schema the provider did not like."""
        if self.mode is None or not schema_caused(error):
            return None
        code = error.kind if isinstance(error, InvalidRequest) else "schema"
        for level in range(self.level + 1, LOOSEST + 1):
            if relax(self._target.schema, level)[0] != relax(self._target.schema, self.level)[0]:
                before, self.level = self.level, level
                return self._step("schema", self.mode, before, code)
        return self.switch(code)

    def switch(self, code: str) -> Fallback | None:
        """Another mode after a sent call, at the same schema level."""
        if self.mode is None or not self._others:
            return None
        before, self.mode = self.mode, self._others.pop(0)
        return self._step("mode", before, self.level, code)

    def learn(self) -> None:
        """The present level worked; the next extraction of this schema begins with it."""
        if self.level:
            self._known[self._key] = self.level

    def _step(self, kind: str, mode: ExtractionMode, level: int, code: str) -> Fallback:
        return Fallback.model_validate(
            {
                "kind": kind,
                "from_mode": mode,
                "to_mode": self.mode,
                "from_level": level,
                "to_level": self.level,
                "code": code,
            }
        )


def schema_caused(error: BaseException) -> bool:
    """Whether a 400 may be the schema's fault: it says so, or it says nothing at all."""
    if isinstance(error, SchemaRejected):
        return True
    return isinstance(error, InvalidRequest) and error.names_nothing
