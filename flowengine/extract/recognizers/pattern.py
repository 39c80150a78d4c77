"""regex: a pattern of the flow's author, matched in linear time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import re2

from flowengine.extract.recognizers.base import Context, Recognition, Recognizer, RecognizerError
from flowengine.extract.recognizers.text import LONGEST_TEXT, Utterance


@dataclass(frozen=True, kw_only=True)
class RegexRecognizer(Recognizer):
    """The first capture group of the pattern, else its whole match; RE2 syntax, any case."""

    kind: ClassVar[str] = "regex"
    positional: ClassVar[str | None] = "pattern"
    pattern: str = ""
    _compiled: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.pattern or not isinstance(self.pattern, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise RecognizerError('regex needs a pattern: write `{regex: "..."}`.')
        options = re2.Options()
        options.log_errors = False
        options.case_sensitive = False
        try:
            compiled = re2.compile(self.pattern, options=options)
        except re2.error as error:  # pyright: ignore[reportUnknownVariableType]
            raise RecognizerError(
                f"regex: {self.pattern!r} is no RE2 pattern ({_reason(error)}); look-around and "
                "back-references do not exist in it."
            ) from None
        object.__setattr__(self, "_compiled", compiled)

    def read(self, said: Utterance, context: Context) -> list[Recognition]:
        found: list[Recognition] = []
        if not self._compiled.search(said.text[:LONGEST_TEXT]):
            return found  # half the cost of asking for all of them
        for match in self._compiled.finditer(said.text[:LONGEST_TEXT]):
            group = 1 if self._compiled.groups and match.group(1) is not None else 0
            text = match.group(group)
            if text:
                found.append(
                    Recognition(
                        value=text, text=text, span=match.span(group), confidence=1.0, rule="regex"
                    )
                )
        return found


def _reason(error: Any) -> str:
    why = error.args[0] if error.args else "unknown"
    return why.decode() if isinstance(why, bytes) else str(why)
