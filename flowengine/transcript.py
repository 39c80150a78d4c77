"""What was said, turn by turn: a ring of the last fifty turns, caller first, then model."""

from __future__ import annotations

from typing import NamedTuple

RING = 50


class Turn(NamedTuple):
    """One turn; `user` holds every utterance heard in it, joined by a space."""

    number: int
    user: str = ""
    model: str = ""
    at: int = 0
    alternatives: tuple[str, ...] = ()
    interrupted: bool = False


class Transcript(NamedTuple):
    """Closed turns, oldest first, and the one in progress. Turn numbers count from 1, always up."""

    turns: tuple[Turn, ...] = ()
    current: Turn = Turn(1)

    def heard(self, text: str, at: int, alternatives: tuple[str, ...] = ()) -> Transcript:
        now = self.current
        turn = Turn(
            now.number, _join(now.user, text), now.model, now.at or at,
            now.alternatives + alternatives, now.interrupted,
        )  # fmt: skip
        return Transcript(self.turns, turn)

    def said(self, text: str, at: int, interrupted: bool = False) -> Transcript:
        """Model words; before the caller speaks again they belong to the turn just closed."""
        now = self.current
        if self.turns and not now.user:
            last = self.turns[-1]
            return Transcript((*self.turns[:-1], _spoken(last, text, at, interrupted)), now)
        return Transcript(self.turns, _spoken(now, text, at, interrupted))

    def closed(self) -> Transcript:
        """The transcript after the turn in progress has ended; an empty turn leaves no trace."""
        if not self.current.user and not self.current.model:
            return self
        kept = self.turns[1:] if len(self.turns) >= RING else self.turns
        return Transcript((*kept, self.current), Turn(self.current.number + 1))

    @property
    def newest(self) -> int:
        """The number of the newest turn in which something was heard or said; 0 before any."""
        now = self.current
        return now.number if now.user or now.model else now.number - 1

    def window(self, size: int) -> tuple[Turn, ...]:
        """The last `size` closed turns, oldest first."""
        return self.turns[-size:] if size > 0 else ()

    def text(self, size: int = RING) -> str:
        """The window as labelled lines, for a model or a person to read."""
        lines = [
            f"{speaker}: {words}"
            for turn in self.window(size)
            for speaker, words in (("caller", turn.user), ("model", turn.model))
            if words
        ]
        return "\n".join(lines)


def _spoken(turn: Turn, text: str, at: int, interrupted: bool) -> Turn:
    return Turn(
        turn.number, turn.user, _join(turn.model, text), turn.at or at, turn.alternatives,
        turn.interrupted or interrupted,
    )  # fmt: skip


def _join(before: str, text: str) -> str:
    return f"{before} {text}" if before and text else before or text
