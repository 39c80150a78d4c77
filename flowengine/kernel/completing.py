"""What follows a record that has landed fields."""

from __future__ import annotations

from flowengine.effects import RunFunction
from flowengine.kernel.rest import rest
from flowengine.kernel.snapshot import Run
from flowengine.kernel.work import Work


def complete(work: Work, landed: frozenset[str]) -> None:
    """Run what the records of these names ask for, on what State holds now."""
    for record in work.flow.records:
        then = record.spec.on_complete
        if then is None or record.name not in landed:
            continue
        rest(work)
        effect = work.effect_id()
        work.effects.append(RunFunction(effect, then.run, dict(work.values)))
        turn = work.transcript.newest
        run = Run("complete", record.name, turn, record.order, {}, then.mode == "call")
        work.wait = work.wait._replace(runs={**work.wait.runs, effect: run})
