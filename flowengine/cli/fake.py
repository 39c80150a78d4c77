"""Scripted answers for a chat: what extractors, decisions, resolvers and tools bring back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path as FilePath
from typing import Literal, NamedTuple, TypeAlias

from pydantic import Field

from flowengine.cli.data_file import DataFile, read_data, unknown_names
from flowengine.data import Data
from flowengine.extract.spec import fields_of
from flowengine.flow.diagnostic import Finding, Path
from flowengine.flow.index import Index
from flowengine.flow.model import Flow
from flowengine.flow.uses import resolver_names
from flowengine.inputs import Json
from flowengine.testing import Failure
from flowengine.testing.answers import failure
from flowengine.testing.fields import unfit_values

Section: TypeAlias = Literal["extract", "decide", "resolve", "tools", "confirm"]
_WHAT = {
    "extract": "extractor", "decide": "decision", "resolve": "resolver", "tools": "tool",
    "confirm": "tool",
}  # fmt: skip


class Spoken(NamedTuple):
    """The caller's newest words, and the how-manieth they are."""

    words: str = ""
    turn: int = 0


class Answers(Data):
    """What is answered while its conditions hold; without any, always."""

    turn: int | None = Field(default=None, ge=1)
    """The caller's n-th utterance."""
    words: str | tuple[str, ...] = ()
    """One of these is in the caller's newest words, as whole words, in any case."""
    extract: dict[str, dict[str, Json]] = Field(default_factory=dict)
    """Extractor -> the fields that it finds."""
    decide: dict[str, Json] = Field(default_factory=dict)
    """Question -> its answer: true, a probability, an option, a level, or all with a certainty."""
    resolve: dict[str, Json] = Field(default_factory=dict)
    """Resolver -> its value."""
    tools: dict[str, Json] = Field(default_factory=dict)
    """Tool -> its response."""
    confirm: dict[str, bool | str] = Field(default_factory=dict)
    """Tool -> whether a call that asks for it is confirmed; a text declines and says why."""
    fails: dict[str, str] = Field(default_factory=dict)
    """Extractor, resolver or tool -> the code with which it fails, such as `timed_out`."""

    def fits(self, spoken: Spoken) -> bool:
        if self.turn is not None and self.turn != spoken.turn:
            return False
        wanted = (self.words,) if isinstance(self.words, str) else self.words
        return not wanted or any(_is_in(words, spoken.words) for words in wanted)


class Fake(Data):
    """The first entry that fits and names what is asked answers it; else nothing is found."""

    answers: tuple[Answers, ...] = Field(min_length=1)

    def names(self, section: Section) -> set[str]:
        """Everything that some entry answers for."""
        kinds = ("extract", "resolve", "tools")
        named = {name for entry in self.answers for name in getattr(entry, section)}
        fails = {name for entry in self.answers for name in entry.fails}
        return named | (fails if section in kinds else set())

    def find(self, section: Section, name: str, spoken: Spoken) -> Json | Failure:
        for entry in self.answers:
            if not entry.fits(spoken):
                continue
            if name in getattr(entry, section):
                return getattr(entry, section)[name]
            if name in entry.fails:
                return failure(entry.fails[name])
        return None


def load_fake(file: FilePath, flow: Flow) -> Fake:
    """Raises FlowFileError: all that is wrong with the file, names that the flow lacks included."""
    read = read_data(file, Fake)
    read.refuse(list(_misnamed(read, flow)))
    return read.data


def _misnamed(read: DataFile[Fake], flow: Flow) -> Iterator[Finding]:
    known: Mapping[str, list[str]] = {
        "extract": [spec.name for spec in flow.extract],
        "decide": list(flow.decisions),
        "resolve": sorted(resolver_names(Index(flow)) | set(_of_fields(flow))),
        "tools": list(flow.tools),
        "confirm": list(flow.tools),
    }
    anything = [name for names in known.values() for name in names]
    specs = {spec.name: spec for spec in flow.extract}
    for at, entry in enumerate(read.data.answers):
        path: Path = ("answers", at)
        for section, names in known.items():
            given = _places(getattr(entry, section), (*path, section))
            yield from unknown_names(given, names, _WHAT[section])
        for name, values in entry.extract.items():
            fields = list(fields_of(specs[name])) if name in specs else []
            if fields:
                given = _places(values, (*path, "extract", name))
                yield from unknown_names(given, fields, f"field in {name!r}:")
                yield from unfit_values(specs[name], values, (*path, "extract", name))
        failing = _places(entry.fails, (*path, "fails"))
        yield from unknown_names(failing, anything, "extractor, resolver or tool")


def _of_fields(flow: Flow) -> Iterator[str]:
    specs = (spec for record in flow.records.values() for spec in record.fields.values())
    return (spec.resolve for spec in specs if spec.resolve)


def _places(names: Iterable[str], path: Path) -> dict[str, Path]:
    return {name: (*path, name) for name in names}


def _is_in(words: str, spoken: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", spoken, re.IGNORECASE) is not None
