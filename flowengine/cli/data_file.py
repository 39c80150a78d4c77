"""A YAML file of a command's own as data: every mistake at once, each in its place."""

from __future__ import annotations

import json
from pathlib import Path as FilePath
from typing import Any, Generic, NamedTuple, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from flowengine.errors import near_miss
from flowengine.flow import invalid, yaml
from flowengine.flow.diagnostic import Finding, FlowFileError, Path, listing
from flowengine.flow.files import read_text
from flowengine.flow.load import in_order
from flowengine.flow.shape import keys_of
from flowengine.flow.source import Node, Source
from flowengine.flow.tree import Unreadable

M = TypeVar("M", bound=BaseModel)


class DataFile(NamedTuple, Generic[M]):
    """What a file holds, and where each part of it stands."""

    data: M
    source: Source

    def refuse(self, findings: list[Finding]) -> None:
        """Raises FlowFileError if there are any."""
        if findings:
            raise FlowFileError(in_order(map(self.source.locate, findings)))


def read_data(file: FilePath, model: type[M]) -> DataFile[M]:
    """Raises FlowFileError: all that is wrong with the file."""
    source = Source(str(file), read_text(file).removeprefix("\ufeff"))
    try:
        builder = yaml.build(source.text)
    except Unreadable as unreadable:
        raise FlowFileError([source.locate(unreadable.finding)]) from None
    source.root = builder.root
    findings = builder.findings
    if builder.root is None or builder.root.kind != "map":
        wanted = ", ".join(f"`{name}:`" for name in keys_of(model))
        message = f"this file holds none of {wanted}"
        raise FlowFileError([source.locate(Finding("empty_file", message, span=(0, 0)))])
    try:
        data = model.model_validate_json(json.dumps(builder.root.plain()), strict=True)
    except ValidationError as error:
        details = [dict(detail) for detail in error.errors(include_url=False)]
        findings += _mistakes(builder.root, details, model)
        raise FlowFileError(in_order(map(source.locate, findings))) from None
    found = DataFile(data, source)
    found.refuse(findings)
    return found


def unknown_names(names: dict[str, Path], known: list[str], what: str) -> list[Finding]:
    """A finding for each name, given with its place, that the flow does not have."""
    found: list[Finding] = []
    for name, path in names.items():
        if name not in known:
            guess = near_miss(name, known)
            cure = f"did you mean {guess!r}?" if guess else listing(known)
            message = f"the flow has no {what} {name!r}"
            found.append(Finding("unknown_name", message, path, suggestion=cure, on_key=True))
    return found


def _mistakes(root: Node, details: list[dict[str, Any]], model: type[BaseModel]) -> list[Finding]:
    found: list[Finding] = []
    for place in invalid.placed(root, details):
        kind, (*holder, name) = place.error["type"], place.path or ("",)
        if kind not in ("missing", "extra_forbidden"):
            found.append(invalid.finding(place))
            continue
        known = keys_of(_model_at(model, tuple(holder)) or model)
        guess = near_miss(str(name), known)
        cure = f"did you mean {guess!r}?" if guess else listing(known, 20)
        missing = kind == "missing"
        message = f"`{name}` is missing" if missing else f"{name!r} is not a key here"
        code = "missing" if missing else "unknown_key"
        found.append(
            Finding(
                code, message, place.path, suggestion="" if missing else cure, on_key=not missing
            )
        )
    return found


def _model_at(model: type[BaseModel], path: Path) -> type[BaseModel] | None:
    here: type[BaseModel] | None = model
    for name in (step for step in path if isinstance(step, str)):
        fields = here.model_fields if here else {}
        here = _model_in(fields[name].annotation) if name in fields else None
    return here


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((m for a in get_args(annotation) if (m := _model_in(a))), None)
