"""Decisions as a flow declares them: a typed question, and how sure an answer must be."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from pydantic import Field, field_validator, model_validator

from flowengine.data import Data, Duration

DecisionType: TypeAlias = Literal["boolean", "choice", "score"]
SURE = {"boolean": 0.85, "choice": 0.6, "score": 0.6}
"""The least certainty that counts, by type."""
MOST_OPTIONS = 255
_RECOGNIZED = {"boolean": "yes_no", "choice": "one_of"}


class DecisionSpec(Data):
    """A question about the caller's newest words; it is answered anew for each caller turn."""

    question: str = Field(min_length=1)
    type: DecisionType = "boolean"
    options: dict[str, str] = Field(default_factory=dict)
    """Choice: option -> what it means; a list is short for options without a description."""
    options_from: str | None = None
    """Choice: a key, or a path in one, that holds the options when the question is asked."""
    none: bool = False
    """Choice: none of the options is an answer too."""
    levels: tuple[str, ...] = ()
    """Score: what each level means, lowest first; the first is 0."""
    criteria: dict[Literal["yes", "no"], str] = Field(default_factory=dict)
    """Boolean: what counts as yes and as no."""
    at_least: float | None = Field(default=None, gt=0.5, le=1)
    """The certainty an answer needs; else it is unsure, and unsure satisfies nothing."""
    writes: str | None = None
    """A key that also gets the answer's value."""
    run: str | None = None
    """A registered function that answers by rule instead of a model."""
    recognize: Literal["yes_no", "one_of"] | None = None
    """A recognizer that answers from the caller's newest words instead of a model."""
    model: str | None = None
    thinking_budget: int | None = None
    timeout: Duration = "2s"

    @field_validator("options", mode="before")
    @classmethod
    def _option_list(cls, value: Any) -> Any:
        return value if isinstance(value, dict) else dict.fromkeys(value or (), "")  # pyright: ignore

    @model_validator(mode="after")
    def _fits_its_type(self) -> DecisionSpec:
        if self.type == "choice" and bool(self.options) == bool(self.options_from):
            raise ValueError("a choice has either `options` or `options_from`")
        if self.type == "choice" and (len(self.options) > MOST_OPTIONS or "" in self.options):
            raise ValueError(f"a choice has at most {MOST_OPTIONS} options, each with a name")
        if self.type == "score" and not 2 <= len(self.levels) <= 10:
            raise ValueError("a score has 2 to 10 `levels`")
        if self.type != "choice" and (self.options or self.options_from or self.none):
            raise ValueError(f"a {self.type} has no options; use `type: choice`")
        if self.type != "score" and self.levels:
            raise ValueError(f"a {self.type} has no levels; use `type: score`")
        if self.type != "boolean" and self.criteria:
            raise ValueError(f"criteria say what yes and no mean; a {self.type} has neither")
        return self

    @model_validator(mode="after")
    def _has_one_that_answers(self) -> DecisionSpec:
        given = [name for name in ("run", "recognize", "model") if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(f"`{given[0]}` and `{given[1]}` both say who answers; keep one")
        if self.recognize is not None and self.recognize != _RECOGNIZED.get(self.type):
            fitting = _RECOGNIZED.get(self.type)
            cure = f"write `recognize: {fitting}`" if fitting else "use `run` or a model"
            raise ValueError(f"a {self.type} is not answered by {self.recognize}; {cure}")
        return self

    @property
    def sure(self) -> float:
        """The least certainty that counts."""
        return self.at_least if self.at_least is not None else SURE[self.type]
