"""The ledger of tool runs: what is under way, what is spent, and what a correction has overtaken.

A run is entered when its call is admitted, so that two calls cannot both be the first; it is taken
out when it fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flowengine.facts import canonical_json
from flowengine.flow.text import Find, template, template_keys
from flowengine.guards.lookup import look_up
from flowengine.inputs import Json
from flowengine.kernel.snapshot import Call, Entry
from flowengine.kernel.work import Work
from flowengine.tools.spec import Times, Tool


def canonical(args: Mapping[str, Json], declared: Mapping[str, Any]) -> str:
    """One spelling for equal arguments: 200.0 is 200, what is left out is its default."""
    defaults = {k: s["default"] for k, s in declared.items() if "default" in s}
    return canonical_json(_plain({**defaults, **args}))


def _plain(value: Json) -> Json:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _plain(child) for key, child in value.items()}
    return [_plain(child) for child in value] if isinstance(value, list) else value


def is_spent(work: Work, tool: str, limit: Times, args: str) -> bool:
    """Whether another run of the tool would be one too many."""
    entries = work.wait.ledger.get(tool, ())
    if limit == "per_arguments":
        return any(entry.args == args for entry in entries)
    if limit == "per_correction":
        return any(not entry.void or entry.running for entry in entries)
    return bool(entries)


def same_key(work: Work, tool: str, key: str) -> Entry | None:
    """An earlier run under the same idempotency key."""
    entries = work.wait.ledger.get(tool, ())
    return next((entry for entry in entries if key and entry.key == key), None)


def reserve(work: Work, id: str, call: Call, key: str) -> None:
    declared = work.flow.flow.tools[call.tool].args
    entry = Entry(id, canonical(call.args, declared), key)
    _replace(work, call.tool, (*work.wait.ledger.get(call.tool, ()), entry))


def release(work: Work, tool: str, id: str) -> None:
    """The run has failed: it never was."""
    _replace(work, tool, tuple(e for e in work.wait.ledger.get(tool, ()) if e.call != id))


def entry_of(work: Work, tool: str, id: str) -> Entry | None:
    return next((e for e in work.wait.ledger.get(tool, ()) if e.call == id), None)


def keep(work: Work, tool: str, id: str, value: Json) -> None:
    """The run has succeeded; it is remembered if anything asks about it later."""
    spec = work.flow.flow.tools[tool]
    limited = spec.limit is not None or any(c.once == tool for c in work.flow.flow.constraints)
    if not limited and not spec.idempotency_key:
        release(work, tool, id)
        return
    kept = value if spec.idempotency_key else None
    entries = work.wait.ledger.get(tool, ())
    _replace(
        work,
        tool,
        tuple(e._replace(running=False, value=kept) if e.call == id else e for e in entries),
    )


def overtake(work: Work, key: str) -> None:
    """The key was corrected: runs that rest on it may be made again, open ones are out of date."""
    for tool, entries in work.wait.ledger.items():
        if key not in work.flow.tools[tool].rests_on:
            continue
        overtaken = tuple(
            e._replace(void=True, corrected=(*e.corrected, key) if e.running else ())
            for e in entries
            if e.running or not _is_past(work, tool)
        )
        _replace(work, tool, overtaken)
        if work.flow.flow.tools[tool].limit == "per_correction" and work.called_ok(tool):
            work.wait = work.wait._replace(succeeded=work.wait.succeeded - {tool})
            work.touched.add(f"@called:{tool}")


def _is_past(work: Work, tool: str) -> bool:
    """Nothing asks about its runs once a correction has overtaken them."""
    spec = work.flow.flow.tools[tool]
    once = any(rule.once == tool for rule in work.flow.flow.constraints)
    return spec.limit == "per_correction" and spec.idempotency_key is None and not once


def idempotency_key(work: Work, spec: Tool, args: Mapping[str, Json]) -> tuple[str, list[str]]:
    """The call's key, and the placeholders that nothing fills."""
    if spec.idempotency_key is None:
        return "", []
    find = _finder(work, args)
    missing = [name for name in template_keys(spec.idempotency_key) if find(name) is None]
    return "" if missing else template(spec.idempotency_key)(find), missing


def filled(work: Work, text: str | bool, args: Mapping[str, Json]) -> str:
    """A text about a call, with `{args.x}` and `{key}` filled in."""
    return template(text)(_finder(work, args)) if isinstance(text, str) else ""


def _finder(work: Work, args: Mapping[str, Json]) -> Find:
    def find(name: str) -> Json:
        if name.startswith("args."):
            return _plain(look_up(name[5:], args.get))
        return look_up(name, work.find)

    return find


def _replace(work: Work, tool: str, entries: tuple[Entry, ...]) -> None:
    ledger = {name: kept for name, kept in work.wait.ledger.items() if name != tool}
    if entries:
        ledger[tool] = entries
    work.wait = work.wait._replace(ledger=ledger)
