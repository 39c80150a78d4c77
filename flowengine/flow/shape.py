"""Which model stands at a path of the file, and the keys that it takes there."""

from __future__ import annotations

from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel

from flowengine.data import Duration
from flowengine.extract.spec import ExtractSpec, FieldSpec, Promotion, RecordSpec
from flowengine.flow.diagnostic import Path
from flowengine.flow.model import Flow, Key, Transition
from flowengine.flow.reaction import Computed, Watch

_NOUNS: dict[type[BaseModel], str] = {
    Key: "a declared key", Transition: "a transition", Computed: "a computed key",
    Watch: "a watcher", RecordSpec: "a record", FieldSpec: "a field", ExtractSpec: "an extraction",
    Promotion: "a promotion",
}  # fmt: skip


def model_at(path: Path) -> type[BaseModel] | None:
    """The model at `path`; None where the names are the author's own, or where anything goes."""
    here: list[Any] = [Flow]
    for step in path:
        here = [inner for annotation in here for inner in inside(annotation, step)]
    return next((a for a in here if isinstance(a, type) and issubclass(a, BaseModel)), None)


def keys_of(model: type[BaseModel]) -> list[str]:
    """Its keys as a file spells them."""
    return [field.alias or name for name, field in model.model_fields.items()]


def takes_duration(path: Path) -> bool:
    """Whether a span of time such as `30s` stands at `path`."""
    model = model_at(path[:-1])
    fields = model.model_fields.items() if model and path else ()
    field = next((f for name, f in fields if path[-1] == (f.alias or name)), None)
    if field is None:
        return False
    marks = get_args(Duration)[1:]
    return any(m in marks for m in field.metadata) or Duration in get_args(field.annotation)


def noun(model: type[BaseModel] | None) -> str:
    """What an author calls it: `a phase`, `an action`."""
    if model is None:
        return "this mapping"
    words = "".join(f" {c.lower()}" if c.isupper() else c for c in model.__name__).strip()
    return _NOUNS.get(model) or f"{'an' if words[0] in 'aeio' else 'a'} {words}"


def inside(annotation: Any, step: str | int) -> list[Any]:
    """The annotations one step further; unions are opened, `Annotated` is seen through."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [a for a in (_field(annotation, step),) if a is not None for a in options(a)]
    arguments = get_args(annotation)
    origin = get_origin(annotation)
    if origin is tuple and isinstance(step, int):
        kept = arguments[:1] if arguments[-1:] == (...,) else arguments[step : step + 1]
    else:
        kept = arguments[1:] if origin is dict else ()
    return [option for argument in kept for option in options(argument)]


def _field(model: type[BaseModel], step: str | int) -> Any:
    for name, field in model.model_fields.items():
        if step == (field.alias or name):
            return field.annotation
    return None


def options(annotation: Any) -> list[Any]:
    """The members of a union, models first met first."""
    if get_origin(annotation) in (Union, UnionType):
        return [option for a in get_args(annotation) for option in options(a)]
    if hasattr(annotation, "__metadata__"):
        return options(get_args(annotation)[0])
    return [annotation]
