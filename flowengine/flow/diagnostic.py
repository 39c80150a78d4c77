"""What is wrong with a flow: a stable code, the place, an excerpt and the cure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple, TypeAlias

from flowengine.errors import FlowError, near_miss
from flowengine.inputs import Json

Severity: TypeAlias = Literal["error", "warning"]
Path: TypeAlias = tuple[str | int, ...]
Patch: TypeAlias = tuple[dict[str, Json], ...]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding in its place; `str()` is what a person reads, `to_json()` what a program does."""

    code: str
    message: str
    path: str = ""
    """JSON pointer into the flow."""
    severity: Severity = "error"
    file: str = ""
    line: int | None = None
    """Counted from 1, as `column` is; None for a flow that was built in Python."""
    column: int | None = None
    excerpt: str = ""
    """The lines around the place, the place underlined."""
    suggestion: str = ""
    fix: Patch = ()
    """JSON patch operations that cure it, where the cure is certain."""

    def to_json(self) -> dict[str, Any]:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**values, "fix": list(self.fix)}

    def __str__(self) -> str:
        lines = [f"{self.severity}[{self.code}]: {self.message}"]
        if place := self._place():
            lines.append(f"  --> {place}")
        if self.excerpt:
            lines.append(self.excerpt)
        if self.suggestion:
            lines.append(f"     = help: {self.suggestion}")
        return "\n".join(lines)

    def _place(self) -> str:
        where = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        path = dotted(steps(self.path))
        return f"{where}  ({path})" if where and path else where or path


class FlowFileError(FlowError):
    """A flow that cannot be loaded; `diagnostics` holds every problem that was found."""

    code = "flow_file"

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n\n".join(str(diagnostic) for diagnostic in self.diagnostics))


class Finding(NamedTuple):
    """What a rule found, before it is placed in a file."""

    code: str
    message: str
    path: Path = ()
    severity: Severity = "error"
    suggestion: str = ""
    fix: Patch = ()
    on_key: bool = False
    """The key at the end of the path is meant, not its value."""
    word: str = ""
    """The part of the value that is meant."""
    within: tuple[int, int] | None = None
    """Where in the value's text: offset and length."""
    span: tuple[int, int] | None = None
    """Where in the file's text, for what has no path: start and end."""


def warning(code: str, message: str, path: Path, **more: Any) -> Finding:
    return Finding(code, message, path, "warning", **more)


def unknown(code: str, what: str, name: str, known: Iterable[str], path: Path) -> Finding:
    """A name that nothing declares; its near miss replaces the value if the value is the name."""
    guess = near_miss(name, known)
    return Finding(
        code,
        f"{what} {name!r} does not exist",
        path,
        suggestion=f"did you mean {guess!r}?" if guess else listing(known),
        fix=({"op": "replace", "path": pointer(path), "value": guess},) if guess else (),
        word=name,
    )


def in_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Errors first, each kind from the top of the file down, none twice."""
    rank = {"error": 0, "warning": 1}
    distinct = {(d.code, d.line, d.column, d.path, d.message): d for d in diagnostics}
    return sorted(
        distinct.values(), key=lambda d: (rank[d.severity], d.line or 0, d.column or 0, d.path)
    )


def listing(known: Iterable[str], most: int = 8) -> str:
    """The names there are, if they are few enough to be read."""
    names = list(dict.fromkeys(known))
    return f"there are: {', '.join(names)}" if 0 < len(names) <= most else ""


def pointer(path: Path) -> str:
    """RFC 6901: `/phases/greeting/transitions/0/to`."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def steps(path: str) -> Path:
    """The steps of a JSON pointer; what looks like an index becomes one."""
    parts = [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]
    return tuple(int(part) if part.isascii() and part.isdigit() else part for part in parts)


def dotted(path: Path) -> str:
    """`phases.greeting.transitions[0].to`, for people."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")
