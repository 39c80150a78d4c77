"""The options of a choice, as they are at the moment when its question is asked."""

from __future__ import annotations

from collections.abc import Callable

from flowengine.decide.spec import MOST_OPTIONS, DecisionSpec
from flowengine.guards.lookup import look_up
from flowengine.inputs import Json

_NAMED_BY = ("id", "value", "name")
_DESCRIBED_BY = ("description", "name")


def options_of(spec: DecisionSpec, find: Callable[[str], Json]) -> dict[str, str]:
    """Each option with what it means; of an object its `id`, `value` or `name`.

    Empty, which makes any answer unsure, where there are no options or too many for one question.
    """
    if spec.options_from is None:
        return dict(spec.options)
    found = look_up(spec.options_from, find)
    items = found if isinstance(found, list) else []
    named = (_option(item) for item in items[: MOST_OPTIONS + 1])
    options = dict(option for option in named if option is not None)
    return options if len(items) <= MOST_OPTIONS else {}


def _option(item: Json) -> tuple[str, str] | None:
    if not isinstance(item, dict):
        name = _text(item)
        return (name, "") if name else None
    name = next((text for key in _NAMED_BY if (text := _text(item.get(key)))), "")
    about = next((text for key in _DESCRIBED_BY if (text := _text(item.get(key)))), "")
    return (name, "" if about == name else about) if name else None


def _text(value: Json) -> str:
    """A text or a number as an option is written; empty for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value).strip()
