"""What an extraction may spend; checked before each call, so that no valid result is lost."""

from __future__ import annotations

from dataclasses import dataclass

from flowengine.llm.usage import Usage


@dataclass(frozen=True, kw_only=True)
class UsageLimits:
    """None is no limit. `deadline_s` bounds the whole extraction, `pass_timeout_s` one call.

    In a stream `pass_timeout_s` bounds each wait for more.
    """

    max_passes: int | None = None
    max_input_tokens: int | None = None
    max_output_tokens: int | None = None
    max_total_tokens: int | None = None
    deadline_s: float | None = None
    pass_timeout_s: float | None = None

    def forbids(self, passes: int, usage: Usage | None, elapsed_s: float) -> str | None:
        """The name of the limit that forbids one more call, or None.

        Once a call was made, a token limit whose count nobody reported forbids the next one.
        """
        if self.max_passes is not None and passes >= self.max_passes:
            return "max_passes"
        if self.deadline_s is not None and elapsed_s >= self.deadline_s:
            return "deadline_s"
        if passes == 0:
            return None
        spent = usage or Usage()
        counts = {
            "max_input_tokens": (self.max_input_tokens, spent.input_tokens),
            "max_output_tokens": (self.max_output_tokens, spent.output_tokens),
            "max_total_tokens": (self.max_total_tokens, spent.total()),
        }
        for name, (most, count) in counts.items():
            if most is not None and (count is None or count >= most):
                return name
        return None

    def call_timeout(self, elapsed_s: float) -> float | None:
        """Seconds the next call may take."""
        left = None if self.deadline_s is None else max(self.deadline_s - elapsed_s, 0.0)
        bounds = [bound for bound in (left, self.pass_timeout_s) if bound is not None]
        return min(bounds, default=None)
