"""The shortest way in: a flow as text, a call on it, and the answer to "why did it not move?".

Run it: `python examples/quickstart.py`. No key and no network; the model's words are played here.
"""

from __future__ import annotations

import asyncio

from flowengine import Session, loads

FLOW = loads("""
flow: pizza
records:
  order:
    fields:
      quantity: {recognize: {integer_near: [want, get, pizzas]}}
      size: {recognize: {one_of: [small, medium, large]}}
      pickup: {recognize: time}
phases:
  order:
    initial: true
    say: Luigi's, what can I get you?
    instruction: Ask for what is still needed, one thing at a time.
    collect: [order]
    transitions:
      - to: done
        when: captured([quantity, size, pickup])
  done:
    final: true
    instruction: Repeat {quantity} {size} pizzas at {pickup}, and say goodbye.
""")

TALK = (
    ("I want two pizzas please", "Which size?"),
    ("Large, no wait, medium", "When will you pick them up?"),
    ("Half past six in the evening", "Two medium pizzas at half past six. See you then!"),
)


async def main() -> None:
    async with Session(FLOW) as call:
        for caller, model in TALK:
            turn = await call.turn(caller, model)
            print(f"caller: {caller}")
            print(
                f"        phase {turn.phase}, still needed: {', '.join(turn.context.unmet) or '-'}"
            )
            if not turn.ended:
                print(call.explain().why_not("done"))
        print(f"model is told: {turn.context.instruction}")


if __name__ == "__main__":
    asyncio.run(main())
