"""What the model says it has done, held against what was done."""

from __future__ import annotations

from flowengine.kernel.work import Work


def check_claims(work: Work, spoken: str, before: int) -> None:
    """Words that claim a tool which has not succeeded raise `claim:{tool}`, for the flow to act on
    and for whoever reads the facts."""
    for name, tool in work.flow.tools.items():
        if (
            tool.claims
            and not work.called_ok(name)
            and any(found(spoken) and not found(spoken[:before]) for found in tool.claims)
        ):
            work.events.append(f"claim:{name}")
