"""What a call begins with: keys of the flow, or keys that nothing in it nearly names."""

from __future__ import annotations

from collections.abc import Iterable

from flowengine.errors import FlowError, slip_of
from flowengine.flow.index import Index
from flowengine.flow.model import Flow
from flowengine.flow.uses import reads, root_of, writes
from flowengine.state.keys import bare


def refuse_misspelt(flow: Flow, names: Iterable[str]) -> None:
    """A key that the flow does not name is legal, a slip of the pen for one that it declares not.

    Raises:
        FlowError: a key is such a slip; the message has the key that was meant.
    """
    declared = {bare(name) for name in flow.state}
    for name in names:
        guess = None if bare(name) in declared else slip_of(bare(name), declared)
        if guess is not None and not _is_named(flow, name):
            raise FlowError(f"the flow has no key {name!r}. Did you mean {guess!r}?")


def _is_named(flow: Flow, name: str) -> bool:
    """Whether something in the flow reads or writes it without declaring it."""
    index = Index(flow)
    named = {bare(use.key) for uses in (reads(index), writes(index)) for use in uses}
    return root_of(name, named) is not None or any(
        key.startswith(f"{bare(name)}.") for key in named
    )
