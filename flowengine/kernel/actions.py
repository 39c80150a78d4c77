"""Actions of a flow as functions of a step: writes and events now, the rest as effects."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, cast

from flowengine.effects import Resolve, RunFunction, Say, Tell
from flowengine.errors import FlowError, FunctionError
from flowengine.flow.action import Action, Text, TextFunction
from flowengine.flow.functions import Functions
from flowengine.flow.text import Find, Template, template
from flowengine.guards.lookup import look_up
from flowengine.inputs import Json
from flowengine.kernel.snapshot import Run
from flowengine.kernel.work import Work
from flowengine.state.view import StateView

Do: TypeAlias = Callable[[Work, Json, Json], None]
"""Does one action; the old and the new value are a watcher's, None elsewhere."""


def compile_actions(actions: Iterable[Action], by: str, functions: Functions) -> tuple[Do, ...]:
    """Each action as a function; `by` is the writer that its writes are recorded under."""
    return tuple(_compile(action, by, functions) for action in actions)


def perform(actions: tuple[Do, ...], work: Work, old: Json = None, new: Json = None) -> None:
    for do in actions:
        do(work, old, new)


def compile_text(text: Text, functions: Functions) -> Callable[[Any], str]:
    """A template or a registered function as one function of a look-up."""
    if isinstance(text, TextFunction):
        return _text_function(text.run, functions)
    return template(text)


def launch(work: Work, name: str) -> None:
    """Ask for a resolver with the arguments that State holds now."""
    args = work.flow.bound(name, work.find)
    effect = work.effect_id()
    work.effects.append(Resolve(effect, name, args))
    spec = work.flow.flow.resolvers.get(name)
    waits = spec is not None and spec.mode == "call"
    run = Run("resolver", name, work.transcript.current.number, 0, args, waits)
    work.wait = work.wait._replace(runs={**work.wait.runs, effect: run})


def _compile(action: Action, by: str, functions: Functions) -> Do:
    field = next(iter(action.model_fields_set))
    if field == "run":
        return _run(cast("str", action.run), by, functions)
    if field in ("say", "context", "prompt"):
        return _speak(field, compile_text(getattr(action, field), functions))
    return _SIMPLE[field](getattr(action, field), by)


def _set(values: Mapping[str, Json], by: str) -> Do:
    def do(work: Work, _old: Json, _new: Json) -> None:
        for key, value in values.items():
            work.put(key, value, by)

    return do


def _copy(pairs: Mapping[str, str], by: str) -> Do:
    def do(work: Work, _old: Json, _new: Json) -> None:
        for target, source in pairs.items():
            work.put(target, look_up(source, work.find), by)

    return do


def _clear(keys: tuple[str, ...], by: str) -> Do:
    def do(work: Work, _old: Json, _new: Json) -> None:
        for key in keys:
            work.drop(key, by)

    return do


def _raise(event: str, _by: str) -> Do:
    return lambda work, _old, _new: work.events.append(event)


def _reset(phases: tuple[str, ...], _by: str) -> Do:
    def do(work: Work, _old: Json, _new: Json) -> None:
        for phase in phases:
            if phase in work.place.done:
                work.mark_done(phase, False)

    return do


def _resolve(name: str, _by: str) -> Do:
    return lambda work, _old, _new: launch(work, name)


_SIMPLE: Mapping[str, Callable[[Any, str], Do]] = {
    "set": _set,
    "copy_": _copy,
    "clear": _clear,
    "raise_": _raise,
    "reset": _reset,
    "resolve": _resolve,
}


def _speak(field: str, text: Template) -> Do:
    def do(work: Work, _old: Json, _new: Json) -> None:
        words = text(work.find)
        if field == "say":
            work.effects.append(Say(work.effect_id(), words))
        else:
            work.effects.append(Tell(work.effect_id(), words, field == "prompt"))

    return do


def _run(name: str, by: str, functions: Functions) -> Do:
    function = functions.lookup("watcher", name)
    if inspect.iscoroutinefunction(function):
        return _run_later(name)
    wanted = set(inspect.signature(function).parameters)
    if not wanted <= {"old", "new", "state"}:
        raise FlowError(
            f"function {name!r} takes {', '.join(sorted(wanted))}: a watcher function takes any "
            "of `old`, `new` and `state`, and returns the keys to write"
        )

    def do(work: Work, old: Json, new: Json) -> None:
        given: dict[str, Any] = {"old": old, "new": new, "state": StateView(work)}
        try:
            writes = dict(function(**{k: v for k, v in given.items() if k in wanted}) or {})
        except Exception as error:
            raise FunctionError("watcher", name, error) from error
        for key, value in writes.items():
            work.put(key, value, by)

    return do


def _run_later(name: str) -> Do:
    def do(work: Work, _old: Json, _new: Json) -> None:
        effect = work.effect_id()
        work.effects.append(RunFunction(effect, name, dict(work.values)))
        run = Run("function", name, work.transcript.newest, 0)
        work.wait = work.wait._replace(runs={**work.wait.runs, effect: run})

    return do


def _text_function(name: str, functions: Functions) -> Callable[[Any], str]:
    function = functions.lookup("text", name)

    def fill(find: Find) -> str:
        try:
            return str(function(find) or "")
        except Exception as error:
            raise FunctionError("text", name, error) from error

    return fill
