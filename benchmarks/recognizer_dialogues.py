"""A slot filler over the recognizers, for scoring whole dialogues; not a script of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from flowengine.extract.recognizers import Context, Recognition, recognizer, utterance


class Slots:
    """A slot filler over the recognizers: which kind a slot has, which words lead to it."""

    def __init__(self, kind_of: Callable[[str], str | None]) -> None:
        self.kind_of = kind_of
        self.end = re.compile(
            r"(until|till|through|back|return\w*|drop\w*|check(ing)?[- ]?out|leav\w+|ends?)"
            r"\b[^.?!]*$",
            re.IGNORECASE,
        )

    def __call__(self, text: str, ctx: Mapping[str, Any]) -> dict[str, str]:
        found: dict[str, str] = {}
        said = utterance(text)
        for kind in ("date", "time", "money", "number"):
            slots = [slot for slot in ctx["slots"] if self.kind_of(slot) == kind]
            asked = [slot for slot in slots if slot in ctx["requested"]]
            if slots:
                found |= getattr(self, f"_{kind}")(said, text, slots, asked, ctx)
        return found

    def _moments(
        self, kind: str, said: Any, asked: list[str], ctx: Mapping[str, Any]
    ) -> list[Recognition]:
        others = [slot for slot in ctx["requested"] if self.kind_of(slot) not in (None, kind)]
        focus = True if asked and not others else None
        context = Context(
            asked=kind if asked else None, focus=focus, ref=datetime.fromisoformat(ctx["ref"])
        )
        return recognizer(kind, hours=[7, 18]).recognize(said, context)

    def _date(
        self, said: Any, text: str, slots: list[str], asked: list[str], ctx: Mapping[str, Any]
    ) -> dict[str, str]:
        got = [one for one in self._moments("date", said, asked, ctx) if one.grain == "day"]
        last = [slot for slot in slots if re.search("drop|return|out|end", slot)]
        first = [slot for slot in slots if slot not in last]
        found: dict[str, str] = {}
        for one in got:
            ends = bool(self.end.search(text[: one.span[0]]))
            only_end_asked = asked and all(slot in last for slot in asked) and len(got) == 1
            pool = (
                last
                if last and (ends or only_end_asked or (first and first[0] in found))
                else first
            )
            for slot in pool[:1]:
                found.setdefault(slot, one.value)
        return found

    def _time(
        self, said: Any, text: str, slots: list[str], asked: list[str], ctx: Mapping[str, Any]
    ) -> dict[str, str]:
        got = self._moments("time", said, asked, ctx)
        return {(asked or slots)[0]: got[-1].value} if got else {}

    def _money(
        self, said: Any, text: str, slots: list[str], asked: list[str], ctx: Mapping[str, Any]
    ) -> dict[str, str]:
        got = recognizer("money").recognize(said, Context(focus=bool(asked) or None))
        return {slots[0]: str(float(Decimal(got[0].value)))} if got else {}

    def _number(
        self, said: Any, text: str, slots: list[str], asked: list[str], ctx: Mapping[str, Any]
    ) -> dict[str, str]:
        found: dict[str, str] = {}
        for slot in slots:
            reader = recognizer("integer_near", ANCHORS.get(slot, slot.split("_")[-1:]), max=30)
            got = reader.recognize(said, Context(focus=len(ctx["requested"]) == 1 and bool(asked)))
            if got:
                found[slot] = str(got[0].value)
        return found


ANCHORS = {
    "number_of_seats": ["people", "person", "seat", "table for", "party", "reservation for",
                        "of us", "guest", "friends", "booking for", "for just"],
    "number_of_beds": ["bed", "bedroom", "bed room"],
    "number_of_baths": ["bath", "bathroom", "bath room"],
    "number_of_rooms": ["room"],
    "number_of_days": ["day"],
    "number_of_seat": ["seat", "people", "person"],
}  # fmt: skip
