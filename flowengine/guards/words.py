"""The words of the guard language, and what each of them names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

NameKind: TypeAlias = Literal["key", "phase", "tool", "resolver", "decision", "function"]

ATOMS: Mapping[str, NameKind | None] = {
    "always": None,
    "caller_spoke": None,
    "is_true": "key",
    "is_set": "key",
    "captured": "key",
    "grounded": "key",
    "corrected": "key",
    "resolved": "resolver",
    "failed": "resolver",
    "called_ok": "tool",
    "done": "phase",
    "in_phase": "phase",
    "custom": "function",
}
"""Atoms and the kind of name they take; `captured` takes several, `always` none."""

TERMS: Mapping[str, Literal["key", "arg"] | None] = {
    "key": "key",
    "arg": "arg",
    "confidence": "key",
    "turns_in_phase": None,
    "elapsed": None,
}
"""What a comparison may read besides literals, and the kind of name it takes."""

ORDERINGS = ("<", "<=", ">", ">=")
CHAINABLE = (*ORDERINGS, "==", "!=")
OPERATORS = (*CHAINABLE, "in", "matches")
