"""A record built step by step: `Record.named("booking").field("slot", one_of("am", "pm"))`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self, Unpack

from flowengine.errors import FlowError
from flowengine.extract.record.parts import Part, Settings, checked, field_spec, resolve
from flowengine.extract.record.parts import field as settings_of
from flowengine.extract.spec import FieldSpec, OnComplete, RecordSpec, Trigger


@dataclass(frozen=True)
class RecordBuilder:
    """Each step gives another builder, so that one may be the beginning of several records.

    A flow takes it as it is: `Flow(records=[booking])`.
    """

    record_name: str
    _fields: Mapping[str, FieldSpec] = field(default_factory=dict[str, FieldSpec])
    _given: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def field(self, name: str, *parts: Part, **settings: Unpack[Settings]) -> Self:
        """One more field: what fills it, and how its value is taken.

        Raises:
            FlowError: the parts contradict each other, or the record has the field already.
        """
        place = f"record {self.record_name}, field {name!r}"
        made = field_spec(place, (*parts, settings_of(**settings)))
        if name in self._fields:
            raise FlowError(f"{place}: given twice")
        return replace(self, _fields={**self._fields, name: made})

    def resolve(
        self,
        name: str,
        *,
        args: Iterable[str] = (),
        ttl: str | None = None,
        **settings: Unpack[Settings],
    ) -> Self:
        """A field filled by the resolver of its name; `field(name, resolve(...))` names another."""
        return self.field(name, resolve(name, *args, ttl=ttl), **settings)

    def window(self, turns: int) -> Self:
        """How many turns are read, newest first."""
        return self._with(window=turns)

    def trigger(self, trigger: Trigger) -> Self:
        """When it reads: at a moment such as `after_tool_call`, or at an `Interval`."""
        return self._with(trigger=trigger)

    def on_complete(
        self, run: str, *, mode: Literal["call", "dispatch", "background"] = "dispatch"
    ) -> Self:
        """What runs when the record lands fields."""
        place = f"record {self.record_name}, on_complete"
        return self._with(on_complete=checked(place, OnComplete, {"run": run, "mode": mode}))

    def spec(self) -> RecordSpec:
        """The record as a flow's data.

        Raises:
            FlowError: it has no fields, or a window or trigger that does not exist.
        """
        given = {**self._given, "fields": dict(self._fields)}
        return checked(f"record {self.record_name}", RecordSpec, given)

    def _with(self, **given: Any) -> Self:
        return replace(self, _given={**self._given, **given})
