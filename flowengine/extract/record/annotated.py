"""Records as classes: annotated fields say what fills them, and State reads back as an instance.

```python
class Order(Record, window=3):
    quantity: Annotated[int | None, integer_near("want", "get")] = None
```
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from inspect import get_annotations
from typing import Any, ClassVar, ForwardRef, Self, TypedDict, Unpack

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo

from flowengine.errors import FlowError, WrongTypeError, did_you_mean
from flowengine.extract import kinds
from flowengine.extract.record.builder import RecordBuilder
from flowengine.extract.record.parts import Part, checked, field_spec
from flowengine.extract.record.value_types import disagreement
from flowengine.extract.spec import FieldSpec, OnComplete, RecordSpec, Trigger
from flowengine.state.state import State
from flowengine.state.types import json_form

_OURS = ("named", "of", "record_name", "spec")
"""Names that no field can have."""


class Options(TypedDict, total=False):
    """The keywords of a record's class, besides its name."""

    window: int
    trigger: Trigger | Mapping[str, int]
    on_complete: OnComplete | Mapping[str, str]


class Record(BaseModel):
    """Subclass it: a field is annotated with its type, what fills it and how its value is taken.

    Class keywords are `name` (the class's own in snake case), `window`, `trigger` and
    `on_complete`; a subclass takes over all but the name. A flow takes the class as it is:
    `Flow(records=[Order])`. An instance shows no values in its repr.

    Raises:
        FlowError: where the class is defined, whatever is wrong with it
    """

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True, defer_build=True)

    record_name: ClassVar[str] = ""
    _record_options: ClassVar[Options] = {}
    _record_spec: ClassVar[RecordSpec | None] = None

    def __init_subclass__(cls, *, name: str | None = None, **options: Unpack[Options]) -> None:
        for taken in _OURS:
            if taken in get_annotations(cls):
                raise FlowError(
                    f"record {cls.__name__}: {taken!r} is a word of every record; give the field "
                    f'another name and field(to="{taken}")'
                )
        super().__init_subclass__()

    @classmethod
    def __pydantic_init_subclass__(
        cls, *, name: str | None = None, **options: Unpack[Options]
    ) -> None:
        for given in options:
            if given not in Options.__annotations__:
                known = ("name", *Options.__annotations__)
                raise FlowError(
                    f"record {cls.__name__} has no keyword {given!r}: it takes {', '.join(known)}."
                    + did_you_mean(given, known)
                )
        if not cls.__pydantic_fields_complete__:
            # Code that is executed rather than imported has its names in the frame of the class
            # statement alone, which stands above the metaclass.
            frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
            names = {**frame.f_globals, **frame.f_locals}
            cls.model_rebuild(raise_errors=False, _types_namespace=names)
        cls.record_name = _snake_case(cls.__name__) if name is None else name
        cls._record_options = {**cls._record_options, **options}
        cls._record_spec = _spec(cls, cls._record_options) if cls.model_fields else None

    @classmethod
    def spec(cls) -> RecordSpec:
        """The record as a flow's data.

        Raises:
            FlowError: the class has no fields.
        """
        if cls._record_spec is None:
            raise FlowError(f"record {cls.__name__} has no fields")
        return cls._record_spec

    @classmethod
    def of(cls, state: State | Mapping[str, Any]) -> Self:
        """What State knows of the record, typed; None where it knows nothing.

        Raises:
            WrongTypeError: a key holds something else; the value is not shown.
        """
        find: Callable[[str], Any] = state.find if isinstance(state, State) else state.get
        fields = cls.spec().fields.items()
        known = {name: json_form(find(field.to or name)) for name, field in fields}
        try:
            return cls.model_validate_json(json.dumps(known), strict=True)
        except ValidationError as error:
            raise WrongTypeError(f"record {cls.record_name}: {_misfits(cls, error)}") from None

    @staticmethod
    def named(name: str) -> RecordBuilder:
        """Begin a record without a class."""
        return RecordBuilder(name)

    def __repr_args__(self) -> list[tuple[str | None, Any]]:
        """Which fields are known; what the caller said of them is nobody's business in a log."""
        known = [name for name in type(self).model_fields if getattr(self, name) is not None]
        return [("known", known)]

    def __str__(self) -> str:
        return repr(self)


def _spec(record: type[Record], options: Options) -> RecordSpec:
    fields = {name: _field(record, name, info) for name, info in record.model_fields.items()}
    return checked(f"record {record.__name__}", RecordSpec, {**options, "fields": fields})


def _field(record: type[Record], name: str, info: FieldInfo) -> FieldSpec:
    place = f"record {record.__name__}, field {name!r}"
    if isinstance(info.annotation, ForwardRef):
        raise FlowError(f"{place}: its annotation names something that does not exist here")
    for item in info.metadata:
        if callable(item) and getattr(item, "__module__", "") == kinds.__name__:
            raise FlowError(f"{place}: write {item.__name__}(), with brackets")
    spec = field_spec(place, [item for item in info.metadata if isinstance(item, Part)])
    if fault := disagreement(spec, info.annotation):
        raise FlowError(f"{place}: {fault}")
    if not info.is_required() and info.get_default(call_default_factory=False) is not None:
        raise FlowError(f"{place}: what nobody said is not known; its default can only be None")
    return spec


def _misfits(record: type[Record], error: ValidationError) -> str:
    """The keys that do not fit, without what they hold."""
    fields = record.spec().fields
    misfits = dict.fromkeys(
        str(found["loc"][0]) for found in error.errors(include_url=False, include_input=False)
    )
    keys = (fields[name].to or name for name in misfits)
    return "; ".join(
        f"key {key!r} does not hold {_annotation(record, name)}"
        for key, name in zip(keys, misfits, strict=True)
    )


def _annotation(record: type[Record], name: str) -> str:
    return str(record.model_fields[name].annotation)


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
