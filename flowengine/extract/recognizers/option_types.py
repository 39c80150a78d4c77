"""Options of plain types (numbers, text, true or false), checked by their annotations."""

from __future__ import annotations

from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from flowengine.extract.recognizers.base import Recognizer, RecognizerError

_NAMES: dict[Any, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
}


def check_option(type_: type[Recognizer], name: str, given: Any) -> None:
    """Raise RecognizerError unless an option of a plain type was given such a value.

    Options of richer types are checked by the recognizer itself.
    """
    wanted = _choices(type_).get(name)
    if wanted is None or any(_is(given, one) for one in wanted):
        return
    named = " or ".join(_NAMES[one] for one in wanted if one is not NoneType)
    raise RecognizerError(f"{type_.kind}: {name} is {named}, not {given!r}.")


@lru_cache(maxsize=64)
def _choices(type_: type[Recognizer]) -> dict[str, tuple[Any, ...]]:
    """Option -> the types that it may be of, where all of them are plain."""
    found = {name: _alternatives(hint) for name, hint in get_type_hints(type_).items()}
    return {name: choices for name, choices in found.items() if Any not in choices}


def _alternatives(hint: Any) -> tuple[Any, ...]:
    """The parts of a union; Any for what is not plain."""
    if get_origin(hint) in (Union, UnionType):
        return tuple(one for part in get_args(hint) for one in _alternatives(part))
    return (hint,) if hint in _NAMES or hint is NoneType else (Any,)


def _is(given: Any, wanted: Any) -> bool:
    if isinstance(given, bool):
        return wanted is bool
    return isinstance(given, int | float if wanted is float else wanted)
