"""Scenario files: YAML into scenarios that remember where they stand; all mistakes at once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from flowengine.errors import near_miss
from flowengine.flow import invalid, yaml
from flowengine.flow.diagnostic import Diagnostic, Finding, FlowFileError, Path, listing
from flowengine.flow.files import read_text
from flowengine.flow.functions import Functions, load_functions
from flowengine.flow.load import in_order, load
from flowengine.flow.model import Flow
from flowengine.flow.shape import keys_of, noun
from flowengine.flow.source import Node, Source
from flowengine.flow.tree import Unreadable
from flowengine.testing.names import misnamed
from flowengine.testing.scenario import Scenario, Scenarios

_EXAMPLE = "begin with `scenarios:` and a list of `- name: ...` with `turns:`"


@dataclass(frozen=True, slots=True)
class ScenarioFile:
    """The scenarios of one file, the flow that they are for, and where each part stands."""

    source: Source
    scenarios: tuple[Scenario, ...]
    root: Path
    """Where the list of scenarios stands in the file."""
    flow_path: FilePath

    def locate(self, finding: Finding) -> Diagnostic:
        """A finding in a scenario, its path beginning with the scenario's number."""
        return self.source.locate(finding._replace(path=(*self.root, *finding.path)))

    def line(self, number: int) -> int:
        """The line on which a scenario begins, from 1."""
        node = self.source.node((*self.root, number))
        return self.source.position(node.span.start)[0] if node else 1

    def check_names(self, flow: Flow) -> None:
        """Compare the names in it with those of the flow.

        Raises:
            FlowFileError: it names what the flow does not have.
        """
        found = list(misnamed(self.scenarios, flow))
        if found:
            raise FlowFileError(in_order(map(self.locate, found)))


def load_scenarios(path: str | FilePath) -> tuple[ScenarioFile, Flow, Functions]:
    """A scenario file with its flow and the flow's functions.

    Raises:
        FlowFileError: all that is wrong with it, or with its flow.
        FlowError: the flow's functions cannot be imported.
    """
    file = read_scenarios(path)
    flow = load(file.flow_path)
    file.check_names(flow)
    return file, flow, functions_of(file.flow_path)


def functions_of(flow_path: FilePath) -> Functions:
    """The functions beside a flow, imported."""
    return load_functions(flow_path if flow_path.is_dir() else flow_path.parent)


def read_scenarios(path: str | FilePath) -> ScenarioFile:
    """A scenario file alone.

    Raises:
        FlowFileError: all that is wrong with it.
    """
    file = FilePath(path)
    source = Source(str(file), read_text(file).removeprefix("\ufeff"))
    source.root, found = _tree(source)
    root: Path = () if source.root.kind == "list" else ("scenarios",)
    read = _validated(source.root)
    found += [_as_in_file(finding, source.root) for finding in _mistakes(read)]
    if isinstance(read, list) or found:
        raise FlowFileError(in_order(map(source.locate, found)))
    return ScenarioFile(source, read.scenarios, root, _flow_path(file, read.flow))


def _tree(source: Source) -> tuple[Node, list[Finding]]:
    try:
        builder = yaml.build(source.text)
    except Unreadable as unreadable:
        raise FlowFileError([source.locate(unreadable.finding)]) from None
    root = builder.root
    if root is None or root.kind == "scalar":
        finding = Finding("empty_file", "there are no scenarios in this file", span=(0, 0))
        raise FlowFileError([source.locate(finding._replace(suggestion=_EXAMPLE))])
    return root, builder.findings


def _validated(root: Node) -> Scenarios | list[Finding]:
    """Strict, so that `no` is not taken for false, nor 5 for the text "5"."""
    if root.kind == "list":
        root = Node("map", root.span, children={"scenarios": root})
    try:
        return Scenarios.model_validate_json(json.dumps(root.plain()), strict=True)
    except ValidationError as error:
        details = [dict(detail) for detail in error.errors(include_url=False)]
    places = invalid.placed(root, [d for d in details if not _is_another_form(d)])
    return [_finding(place) for place in places if not _is_short_of_wrong_ones(place)]


def _as_in_file(finding: Finding, root: Node) -> Finding:
    """A bare list has no `scenarios` to step through."""
    path = finding.path[1:] if root.kind == "list" else finding.path
    return finding._replace(path=path, fix=())


def _is_another_form(error: Mapping[str, Any]) -> bool:
    """Of a word or a mapping, the mapping was meant."""
    return error["type"] == "literal_error" and isinstance(error["input"], dict)


def _is_short_of_wrong_ones(place: invalid.Placed) -> bool:
    """A list is too short only because what is in it is wrong, which is said anyway."""
    return place.error["type"] == "too_short" and bool(place.node and place.node.children)


def _mistakes(read: Scenarios | list[Finding]) -> Iterator[Finding]:
    if isinstance(read, list):
        yield from read
        return
    names = [scenario.name for scenario in read.scenarios]
    for at, name in enumerate(names):
        if name in names[:at]:
            path: Path = ("scenarios", at, "name")
            yield Finding("duplicate_name", f"two scenarios are called {name!r}", path)


def _finding(place: invalid.Placed) -> Finding:
    """The words that flows use for such mistakes, with the names of scenarios."""
    path = place.path
    if place.error["type"] not in ("missing", "extra_forbidden"):
        return invalid.finding(place)
    model, name = _model_at(path[:-1]), str(path[-1])
    what = noun(model) if len(path) > 1 else "a scenario file"
    if len(path) > 1 and isinstance(path[-2], str):
        what = f"`{path[-2]}`"
    if place.error["type"] == "missing":
        return Finding("missing", f"{what} needs `{name}`", path)
    known = keys_of(model) if model else []
    guess = near_miss(name, known)
    return Finding(
        "unknown_key",
        f"{name!r} is not a key of {what}",
        path,
        suggestion=f"did you mean {guess!r}?" if guess else listing(known, 20),
        on_key=True,
    )


def _model_at(path: Path) -> type[BaseModel] | None:
    """The model at a path of the file; None where the names are the author's own."""
    here: type[BaseModel] | None = Scenarios
    for name in (step for step in path if isinstance(step, str)):
        fields = here.model_fields if here else {}
        here = _model_in(fields[name].annotation) if name in fields else None
    return here


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((m for a in get_args(annotation) if (m := _model_in(a))), None)


def _flow_path(file: FilePath, flow: str | None) -> FilePath:
    if flow is not None:
        return file.parent / flow
    return file.parent.parent if file.parent.name == "scenarios" else file.parent
