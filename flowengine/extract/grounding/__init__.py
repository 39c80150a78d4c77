"""Grounding: a model's value, looked up in the caller's own words."""

from flowengine.extract.grounding.look_up import (
    CallerWords,
    Grounded,
    ground,
    ground_quote,
    read_ahead,
)

__all__ = ["CallerWords", "Grounded", "ground", "ground_quote", "read_ahead"]
