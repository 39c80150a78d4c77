"""`make demo`: one call through the table-booking flow, step by step; then recorded calls, counted.

No model and no network. Public restaurant dialogues are replayed where they lie beside the
repository, our own otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from flowengine import Denied, load
from flowengine.batch import Call, Options, read_calls, replay_folder, summary_of
from flowengine.cli.replay import print_summary
from flowengine.facts import KeyWritten
from flowengine.runtime import TurnResult
from flowengine.testing import Simulation

ROOT = Path(__file__).parent.parent
FLOW = ROOT / "flows" / "table_booking"
PUBLIC = ROOT.parent / "shared" / "data" / "dialogues" / "dialogues.jsonl"
OWN = ROOT / "examples" / "dialogues" / "booking.jsonl"
MARCH_2026 = 1_772_618_400_000

CALLER, MODEL, TOOL = "caller", "model", "tool"
TALK = (
    (CALLER, "A table for four on Friday please"),
    (MODEL, "At what time?"),
    (CALLER, "Half past seven in the evening"),
    (TOOL, "book_table"),  # a model in a hurry
    (MODEL, "Four people on Friday at half past seven, is that right?"),
    (CALLER, "Oh, we will be five people"),
    (MODEL, "Five people on Friday at half past seven, is that right?"),
    (CALLER, "Yes, that's right"),
    (TOOL, "book_table"),
)

MEANING = """
What this means: these callers talked to somebody else, who asked other questions in another order.
No tool was called for this flow, so no table is booked and `ended` is 0, as it must be. A call with
unmet needs was over before the party size, the day, the time and a yes to them had all been heard.
What was captured was read from the words alone. Change the flow and replay: you see at once what
that does to calls you already have.

  flowengine replay flows/table_booking examples/dialogues/booking.jsonl"""


def main() -> None:
    print(
        "One call. The words of both sides are played; after -> stands what the flow makes of it."
    )
    for line in one_call():
        print(line)
    file = PUBLIC if PUBLIC.is_file() else OWN
    print("\nRecorded calls, replayed through the same flow without a model:\n")
    all_calls(file)
    print(MEANING)


def one_call() -> Iterator[str]:
    call = Simulation(load(FLOW))
    yield f"\nmodel   {call.said[0]}"
    for who, words in TALK:
        yield f"{who:7} {words if who != TOOL else f'{words} is called'}"
        if who == CALLER:
            yield from made_of(call.turn(words))
        elif who == MODEL:
            call.say(words)
        else:
            yield from answer(call, words)
    yield f"        -> {call.phase}: {call.context.instruction.splitlines()[-1]}"


def made_of(turn: TurnResult) -> Iterator[str]:
    """What was read from the caller's words, where that led, and what is still asked for."""
    for fact in turn.facts:
        if isinstance(fact, KeyWritten) and fact.key in turn.snapshot.evidence:
            yield f"        -> {fact.key} = {turn.snapshot.values[fact.key]}"
    needs = f", still needed: {', '.join(turn.context.unmet)}" if turn.context.unmet else ""
    yield f"        -> phase {turn.phase}{needs}"


def answer(call: Simulation, tool: str) -> Iterator[str]:
    """A call of the model's, with what is known as its arguments, and what it gets."""
    known = call.snapshot.values
    outcome = call.tool(tool, {key: known[key] for key in ("party_size", "date", "time")})
    if isinstance(outcome, Denied):
        yield f"        -> denied: {', '.join(outcome.missing)} is missing"
    else:
        yield f"        -> {outcome}"


def all_calls(file: Path) -> None:
    calls = [call for call in read_calls(file) if _is_booking(call)]
    print_summary(summary_of(list(replay_folder(FLOW, calls, Options(start=MARCH_2026)))))


def _is_booking(call: Call) -> bool:
    return any("Restaurants" in label for label in call.labels)


if __name__ == "__main__":
    main()
