"""Someone outside the conversation who must agree to a call: an operator, a caller's own screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from flowengine.errors import FlowError, SourceError
from flowengine.inputs import Json
from flowengine.tools.spec import Tool


class Confirm(Protocol):
    """Asked before each call of a tool that declares `confirm`."""

    async def __call__(self, tool: str, args: Mapping[str, Json], question: str) -> bool | str:
        """True agrees, False declines, a text declines and says why."""
        ...


class ScriptedConfirm:
    """Answers from a list, for tests; `asked` holds what it was asked."""

    def __init__(self, answers: Iterable[bool | str]) -> None:
        self._answers = iter(answers)
        self.asked: list[tuple[str, dict[str, Json], str]] = []

    async def __call__(self, tool: str, args: Mapping[str, Json], question: str) -> bool | str:
        self.asked.append((tool, dict(args), question))
        answer = next(self._answers, None)
        if answer is None:
            count = len(self.asked)
            raise SourceError(f"nobody answers confirmation {count}", code="script_ended")
        return answer


def declined(answer: bool | str) -> str | None:
    """Why not, or None for an agreement; a truthy text is still a refusal."""
    if answer is True:
        return None
    return answer if isinstance(answer, str) and answer.strip() else "it was not confirmed"


def require_confirm(tools: Mapping[str, Tool], confirm: Confirm | None) -> None:
    """A tool that asks for confirmation never runs where nobody can give it.

    Raises:
        FlowError: names the tools
    """
    asking = [name for name, tool in tools.items() if tool.confirm]
    if asking and confirm is None:
        raise FlowError(
            f"{', '.join(asking)}: confirmation is asked for, and nobody is there to give it: "
            "pass `confirm=`"
        )
