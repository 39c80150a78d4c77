"""The typed arguments of a function: their JSON Schema, and the check of what a call brings."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple, NotRequired, get_args, get_type_hints

from pydantic import ConfigDict, Field
from pydantic_core import to_jsonable_python
from pydantic_core.core_schema import ErrorType
from typing_extensions import TypedDict

from flowengine.errors import FlowError, SourceError, near_miss
from flowengine.inputs import Json
from flowengine.llm.data import Schema, is_array, is_object
from flowengine.llm.nulls import drop_strict_nulls
from flowengine.llm.reasons import Issue
from flowengine.llm.schema import Misfit, NoSchema, Target, target

Function = Callable[..., Any]


class Problem(NamedTuple):
    """What is wrong with one argument, without its value."""

    argument: str
    text: str


class ArgumentError(SourceError):
    """Arguments that do not fit; each problem names its argument, never the value."""

    def __init__(self, who: str, problems: tuple[Problem, ...]) -> None:
        told = "; ".join(f"{problem.argument}: {problem.text}" for problem in problems)
        super().__init__(f"{who}: {told}", code="invalid_arguments")
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Arguments:
    """What one function takes. `injected` names the parameter that the caller of it fills."""

    description: str
    names: tuple[str, ...]
    required: tuple[str, ...]
    schema: Schema
    injected: str | None
    _target: Target[dict[str, Any]] | None
    """None takes anything: a function without a signature of its own."""
    takes_any: bool
    """Whether it takes arguments that it does not name."""

    def bind(self, args: Mapping[str, Json], who: str) -> dict[str, Any]:
        """The arguments as the types that the function asks for; a default is left to it.

        `who` is asked, such as `tool 'book'`.

        Raises:
            ArgumentError: one is missing, unknown, or does not fit
        """
        if self._target is None:
            return dict(args)
        problems = [*self._unknown(args), *self._missing(args)]
        known = {
            name: value for name, value in args.items() if name in self.names or self.takes_any
        }
        try:
            bound = self._target.validate(drop_strict_nulls(self._target.schema, known))
        except Misfit as misfit:
            problems += [_problem(issue) for issue in misfit.issues if issue.type != "missing"]
            raise ArgumentError(who, tuple(problems)) from None
        if problems:
            raise ArgumentError(who, tuple(problems))
        return bound

    def _unknown(self, args: Mapping[str, Json]) -> list[Problem]:
        """What is not asked for; a name of the model's own invention is not repeated."""
        if self.takes_any:
            return []
        takes = f"it takes {', '.join(self.names)}" if self.names else "it takes no arguments"
        guesses = [near_miss(name, self.names) for name in args if name not in self.names]
        return [
            Problem("*", f"no such argument: {takes}" + (f" (meant: {guess}?)" if guess else ""))
            for guess in guesses
        ]

    def _missing(self, args: Mapping[str, Json]) -> list[Problem]:
        return [Problem(name, "is missing") for name in self.required if name not in args]


def schema_of(function: Function) -> Schema:
    """The JSON Schema of the arguments that a function's annotations ask for.

    Raises:
        FlowError: an annotation has no schema
    """
    return arguments_of(function).schema


def arguments_of(function: Function, injected: type | None = None) -> Arguments:
    """What a function's signature, annotations and docstring say.

    A parameter annotated `injected` is no argument.

    Raises:
        FlowError: it has parameters without a name, or an annotation without a schema
    """
    if type(function).__hash__ is None:  # an object that compares by its fields
        return _read(function, injected)
    return _cached(function, injected)


def _read(function: Function, injected: type | None) -> Arguments:
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:  # some functions written in C
        return Arguments("", (), (), _empty(), None, None, True)
    hints = _hints(function)
    filled = next((n for n, hint in hints.items() if injected and _is_it(hint, injected)), None)
    named = [p for p in parameters.values() if p.kind is not p.VAR_KEYWORD and p.name != filled]
    for parameter in named:
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            raise FlowError(
                f"{_name(function)}: parameter {parameter.name!r} cannot be passed by name"
            )
    described = _described(function)
    fields = {p.name: _field(p, hints.get(p.name, Any), described.get(p.name)) for p in named}
    open_ended = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    made = _typed(function, fields, open_ended)
    defaults = {p.name: p.default for p in named if p.default is not p.empty}
    required = tuple(p.name for p in named if p.default is p.empty)
    schema = _with_defaults(_untitled(made.schema), defaults)
    made = replace(made, schema=schema)
    text = described.get("", "")
    return Arguments(text, tuple(fields), required, schema, filled, made, open_ended)


_cached = functools.lru_cache(maxsize=1024)(_read)


def _hints(function: Function) -> dict[str, Any]:
    while isinstance(function, functools.partial):
        function = function.func
    if not inspect.isroutine(function):
        function = type(function).__call__
    try:
        return get_type_hints(function, include_extras=True)
    except (NameError, AttributeError, TypeError) as error:
        raise FlowError(
            f"{_name(function)}: an annotation cannot be read ({error}); a type that is imported "
            "only for type checking has to be imported for good"
        ) from error


def _is_it(hint: Any, injected: type) -> bool:
    return hint is injected or injected in getattr(hint, "__args__", ())


def _field(parameter: inspect.Parameter, hint: Any, description: str | None) -> Any:
    if description:
        hint = Annotated[hint, Field(description=description)]
    return hint if parameter.default is parameter.empty else NotRequired[hint]


def _typed(function: Function, fields: dict[str, Any], open_ended: bool) -> Target[dict[str, Any]]:
    typed: Any = TypedDict("Arguments", fields)  # pyright: ignore[reportArgumentType, reportGeneralTypeIssues]
    typed.__pydantic_config__ = ConfigDict(extra="allow" if open_ended else "ignore")
    try:
        return target(typed)
    except NoSchema as error:
        raise FlowError(f"{_name(function)}: an annotation has no schema: {error}") from None


def _with_defaults(schema: Schema, defaults: Mapping[str, Any]) -> Schema:
    """The schema with the defaults that have a JSON form."""
    properties: Schema = dict(schema.get("properties", {}))
    for name, value in defaults.items():
        if value is not None:
            told = to_jsonable_python(value, fallback=lambda _: None)
            properties[name] = {**properties[name], **({} if told is None else {"default": told})}
    return {**schema, "properties": properties}


def _untitled(node: Any, names: bool = False) -> Any:
    """The schema without the titles that were made of names; `names`: keys here are names."""
    if is_array(node):
        return [_untitled(child) for child in node]
    if not is_object(node):
        return node
    literal = ("enum", "const", "default", "examples")
    return {
        key: child if key in literal and not names
        else _untitled(child, names=not names and key in ("properties", "$defs"))
        for key, child in node.items()
        if names or key != "title"
    }  # fmt: skip


def _empty() -> Schema:
    return {"type": "object", "properties": {}}


_ARGUMENT = re.compile(r"^\s{2,}(\w+)(?:\s*\([^)]*\))?:\s+(\S.*)$")


def _described(function: Function) -> dict[str, str]:
    """The docstring's first paragraph as ``, and what its `Args:` section says of arguments."""
    doc = inspect.getdoc(function) if inspect.isroutine(function) else function.__doc__
    doc = inspect.cleandoc(doc or "")
    found = {"": " ".join(doc.partition("\n\n")[0].split())}
    _, _, section = doc.partition("\nArgs:\n")
    name = ""
    for line in section.splitlines():
        if line and not line.startswith(" "):
            break
        if match := _ARGUMENT.match(line):
            name = match[1]
            found[name] = match[2].strip()
        elif name and line.strip():
            found[name] += f" {line.strip()}"
    return found


def _name(function: Function) -> str:
    return str(getattr(function, "__qualname__", type(function).__name__))


_KNOWN = frozenset(get_args(ErrorType))
_QUOTING = frozenset({"union_tag_invalid", "value_error", "assertion_error"})
_WHOLE = frozenset({"literal_error", "enum"})
"""Kinds of error whose words list what is allowed."""


def _problem(issue: Issue) -> Problem:
    """The issue in words that quote nothing of the value, which some messages do."""
    text = issue.msg if issue.type in _WHOLE else issue.msg.partition(",")[0]
    if issue.type not in _KNOWN or issue.type in _QUOTING:
        text = "is not accepted"
    return Problem(issue.place or "*", text.replace("Input should", "should"))
