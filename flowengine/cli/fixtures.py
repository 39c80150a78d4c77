"""Extraction fixtures: what was said, and what each extractor of the flow should find in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any

from pydantic import Field, model_validator

from flowengine.cli.data_file import DataFile, read_data, unknown_names
from flowengine.data import Data
from flowengine.errors import FlowError
from flowengine.extract.grounding.inferred import is_inferred
from flowengine.extract.grounding.sameness import same
from flowengine.extract.spec import fields_of
from flowengine.flow.diagnostic import Finding
from flowengine.flow.model import Flow
from flowengine.inputs import NOTHING, Json
from flowengine.testing.fields import unfit_values
from flowengine.transcript import Turn

FILE = "extraction.yaml"


class SaidTurn(Data):
    """One turn: the caller's words, then the model's."""

    user: str = ""
    model: str = ""

    @model_validator(mode="after")
    def _has_words(self) -> SaidTurn:
        if not self.user and not self.model:
            raise ValueError("a turn needs words of the `user` or of the `model`")
        return self


class Fixture(Data):
    """A conversation up to its newest turn, and what its extractors should find then."""

    name: str = Field(min_length=1)
    turns: tuple[SaidTurn, ...] = Field(min_length=1)
    known: dict[str, Json] = Field(default_factory=dict)
    """What State holds already, by key."""
    expect: dict[str, dict[str, Json]] = Field(min_length=1)
    """Extractor -> field -> value. All of them run at once. Null: the field must hold nothing;
    false: false or nothing; a field that is not named may be anything."""

    def window(self, size: int) -> tuple[Turn, ...]:
        """The last turns, as an extractor reads them."""
        turns = [Turn(at, said.user, said.model) for at, said in enumerate(self.turns, 1)]
        return tuple(turns[-size:])


class Fixtures(Data):
    fixtures: tuple[Fixture, ...] = Field(min_length=1)


def load_fixtures(path: FilePath, flow: Flow, file: FilePath | None) -> tuple[Fixture, ...]:
    """The fixtures of a flow: `extraction.yaml` beside it, unless another file is named.

    Raises:
        FlowFileError: all that is wrong with the file.
        FlowError: there is none.
    """
    folder = path if path.is_dir() else path.parent
    file = file or folder / FILE
    if not file.exists():
        raise FlowError(
            f"{file}: there are no fixtures; write `fixtures:` with `name`, `turns` and `expect`, "
            "as docs/probe.md shows"
        )
    read = read_data(file, Fixtures)
    read.refuse(list(_misnamed(read, flow)))
    return read.data.fixtures


def _misnamed(read: DataFile[Fixtures], flow: Flow) -> Iterator[Finding]:
    extracts = {spec.name: spec for spec in flow.extract}
    for at, fixture in enumerate(read.data.fixtures):
        path = ("fixtures", at, "expect")
        names = {name: (*path, name) for name in fixture.expect}
        yield from unknown_names(names, list(extracts), "extractor")
        for name, fields in fixture.expect.items():
            known: Mapping[str, Any] = fields_of(extracts[name]) if name in extracts else NOTHING
            if known:
                places = {field: (*path, name, field) for field in fields}
                yield from unknown_names(places, list(known), f"field in {name!r}:")
                judged = {f: v for f, v in fields.items() if is_inferred(known.get(f, {}))}
                yield from unfit_values(extracts[name], judged, (*path, name))


def faults(expected: Mapping[str, Json], found: Mapping[str, Json], locale: str) -> Counter[str]:
    """How the fields differ, as `field missing`, `field different` or `field made up`."""
    differing: Counter[str] = Counter()
    for field, value in expected.items():
        got = found.get(field)
        if value is None or value is False:
            if got is not None and not (value is False and got is False):
                differing[f"{field} made up"] += 1
        elif got is None:
            differing[f"{field} missing"] += 1
        elif not same(value, got, locale=locale):
            differing[f"{field} different"] += 1
    return differing
