"""What was said, turn by turn: a ring of the last fifty turns, caller first, then model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pydantic import JsonValue

RING = 50


class ToolCall(NamedTuple):
    """A tool call of a turn and how it ended; arguments and result are cut to 200 characters."""

    tool: str
    args: str
    status: str
    result: str


class Turn(NamedTuple):
    """One turn; `user` holds every utterance heard in it, joined by a space.

    `at` is when the caller began to speak or, before that, the model.
    """

    number: int
    user: str = ""
    model: str = ""
    at: int = 0
    alternatives: tuple[str, ...] = ()
    interrupted: bool = False
    calls: tuple[ToolCall, ...] = ()


class Transcript(NamedTuple):
    """Closed turns, oldest first, and the one in progress. Turn numbers count from 1, always up."""

    turns: tuple[Turn, ...] = ()
    current: Turn = Turn(1)

    def heard(self, text: str, at: int, alternatives: tuple[str, ...] = ()) -> Transcript:
        now = self.current
        turn = now._replace(
            user=_join(now.user, text), at=now.at if now.user and not now.user.isspace() else at,
            alternatives=now.alternatives + alternatives,
        )  # fmt: skip
        return Transcript(self.turns, turn)

    def said(self, text: str, at: int, interrupted: bool = False) -> Transcript:
        """Model words; before the caller speaks again they belong to the turn just closed."""
        now = self.current
        if self.turns and not now.user:
            last = self.turns[-1]
            return Transcript((*self.turns[:-1], _spoken(last, text, at, interrupted)), now)
        return Transcript(self.turns, _spoken(now, text, at, interrupted))

    def called(self, call: ToolCall) -> Transcript:
        """A tool call that has ended, in the turn in progress or, between turns, in the last."""
        now = self.current
        if self.turns and not (now.user or now.model):
            last = self.turns[-1]
            return Transcript((*self.turns[:-1], last._replace(calls=(*last.calls, call))), now)
        return Transcript(self.turns, now._replace(calls=(*now.calls, call)))

    def closed(self) -> Transcript:
        """The transcript after the turn in progress has ended; an empty turn leaves no trace."""
        if not (self.current.user or self.current.model or self.current.calls):
            return self
        kept = self.turns[1:] if len(self.turns) >= RING else self.turns
        return Transcript((*kept, self.current), Turn(self.current.number + 1))

    def after(self, number: int) -> tuple[Turn, ...]:
        """What is kept of the turns after this one, oldest first, with the one in progress."""
        newer = self.current.number - number
        return (*self.turns, self.current)[-newer:] if newer > 0 else ()

    def heard_in(self, number: int) -> bool:
        """Whether the caller said something in a closed turn that is still kept."""
        turn = next((turn for turn in reversed(self.turns) if turn.number == number), None)
        return turn is not None and bool(turn.user)

    @property
    def newest(self) -> int:
        """The number of the newest turn in which something was heard or said; 0 before any."""
        now = self.current
        return now.number if now.user or now.model else now.number - 1

    @property
    def so_far(self) -> tuple[Turn, ...]:
        """The closed turns and, once something was heard or said in it, the one in progress."""
        now = self.current
        return (*self.turns, now) if now.user or now.model else self.turns

    @property
    def last_user(self) -> str:
        """The caller's newest words, of the turn in progress if there are any; else empty."""
        return next((turn.user for turn in reversed(self.so_far) if turn.user), "")

    @property
    def last_model(self) -> str:
        """The model's newest words."""
        return next((turn.model for turn in reversed(self.so_far) if turn.model), "")

    def window(self, size: int) -> tuple[Turn, ...]:
        """The last `size` closed turns, oldest first."""
        return self.turns[-size:] if size > 0 else ()

    def text(self, size: int = RING) -> str:
        """The window as labelled lines, for a model or a person to read."""
        lines = [
            f"{speaker}: {words}"
            for turn in self.window(size)
            for speaker, words in (
                ("caller", turn.user), *(("tool", call_text(call)) for call in turn.calls),
                ("model", turn.model),
            )
            if words
        ]  # fmt: skip
        return "\n".join(lines)


def quoted_lines(turns: Iterable[Turn]) -> Iterator[str]:
    """The turns for a model to read as evidence: labelled, each line a quotation."""
    for turn in turns:
        if turn.user:
            yield f"caller: {quoted(turn.user)}"
        for call in turn.calls:
            yield f"tool: {quoted(call_text(call))}"
        if turn.model:
            label = "assistant (cut off)" if turn.interrupted else "assistant"
            yield f"{label}: {quoted(turn.model)}"


def quoted(words: str) -> str:
    """One line, whatever was said: no words can end their quotation or begin a line."""
    return quotation(" ".join(words.split()))


def quotation(value: JsonValue) -> str:
    """A value as JSON that can be sent: a broken transcript may hold half of a surrogate pair."""
    return json.dumps(value, ensure_ascii=False).encode(errors="replace").decode()


def call_text(call: ToolCall) -> str:
    """A call in one line: `look(id=1) ran: {...}`."""
    return f"{call.tool}({call.args}) {call.status}" + (f": {call.result}" if call.result else "")


def _spoken(turn: Turn, text: str, at: int, interrupted: bool) -> Turn:
    return turn._replace(
        model=_join(turn.model, text), at=turn.at or at,
        interrupted=turn.interrupted or interrupted,
    )  # fmt: skip


def _join(before: str, text: str) -> str:
    return f"{before} {text}" if before and text else before or text
