"""Yes/no questions about State and progress, as data."""

from flowengine.guards.atoms import AllOf, AnyOf, Atom, Compare, Decided, Guard, Not
from flowengine.guards.build import (
    Operand,
    all_of,
    always,
    any_of,
    arg,
    called_ok,
    caller_spoke,
    captured,
    compare,
    confidence,
    corrected,
    custom,
    decided,
    done,
    elapsed,
    eq,
    failed,
    grounded,
    in_phase,
    is_set,
    is_true,
    key,
    not_,
    one_of,
    resolved,
    turns_in_phase,
)
from flowengine.guards.evaluate import CompiledGuard, compile_guard
from flowengine.guards.reads import atoms_of, key_names, walk
from flowengine.guards.terms import Constant, Read, Term
from flowengine.guards.view import Decision, Keys, View

__all__ = [
    "AllOf", "AnyOf", "Atom", "Compare", "CompiledGuard", "Constant", "Decided", "Decision",
    "Guard", "Keys", "Not", "Operand", "Read", "Term", "View", "all_of", "always", "any_of",
    "arg", "atoms_of", "called_ok", "caller_spoke", "captured", "compare", "compile_guard",
    "confidence", "corrected", "custom", "decided", "done", "elapsed", "eq", "failed", "grounded",
    "in_phase", "is_set", "is_true", "key", "key_names", "not_", "one_of", "resolved",
    "turns_in_phase", "walk",
]  # fmt: skip
