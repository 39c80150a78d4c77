"""Tools that cannot be undone, and what stands between a model and them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flowengine.check.arguments import call_guards
from flowengine.check.conditions import keys_behind
from flowengine.check.said import Said
from flowengine.check.unused import offering
from flowengine.flow.cycles import cycles
from flowengine.flow.diagnostic import Finding, Patch, Path, pointer, warning
from flowengine.flow.index import Index, PhasePlace
from flowengine.guards import (
    AllOf,
    AnyOf,
    Atom,
    Compare,
    Decided,
    Guard,
    Not,
    always,
    grounded,
    names_of,
)
from flowengine.state.keys import bare
from flowengine.tools.spec import Tool


def unguarded_commits(index: Index) -> Iterator[Finding]:
    """Something must hold, or someone must agree, before what cannot be undone is done."""
    for name, tool in index.flow.tools.items():
        if tool.commit and not tool.confirm and not any(_safeguards(index, name)):
            yield Finding(
                "unguarded_commit",
                f"nothing guards {name!r}, which cannot be undone: the model alone decides",
                ("tools", name),
                suggestion="give it `when`, such as `is_true(confirmed)`, or `confirm: true`",
                on_key=True,
            )


def _safeguards(index: Index, tool: str) -> Iterator[bool]:
    """Whether each of its guards and rules of order keeps it shut for a while."""
    for path, guard in call_guards(index, tool):
        yield guard != always() and _is_enforced(index, path)
    for rule in index.flow.constraints:
        if rule.before is not None and rule.before[1] == tool:
            yield rule.mode == "enforce"


def _is_enforced(index: Index, path: Path) -> bool:
    return path[0] == "tools" or index.flow.constraints[int(path[1])].mode == "enforce"


def open_commits(index: Index) -> Iterator[Finding]:
    """What cannot be undone and is listed by one phase is not open in another that lists nothing.

    Where no phase lists it, its guard is what keeps it shut.
    """
    listed = {name for place in index.phases for name in _allowed(place) or ()}
    commits = [n for n, tool in index.flow.tools.items() if _is_kept(tool) and n in listed]
    where = {name: set(offering(index, name)) - _shut(index, name) for name in commits}
    for place in index.phases:
        around = (place, *index.ancestors(place.name))
        opened = [name for name in commits if place.name in where[name]]
        if opened and not place.phase.final and all(_allowed(p) is None for p in around):
            yield warning(
                "open_commit",
                f"phase {place.name!r} lists no tools, so all are open in it: also "
                f"{', '.join(opened)}, which cannot be undone",
                place.path,
                suggestion="list the tools that it needs, or none: `tools: []`",
                on_key=True,
            )


def _is_kept(tool: Tool) -> bool:
    return tool.commit and not tool.ambient


def _allowed(place: PhasePlace) -> tuple[str, ...] | None:
    return place.phase.tools.allow if place.phase.tools else None


def _shut(index: Index, tool: str) -> set[str]:
    """The phases in which its guards cannot hold: they ask for another one to be active."""
    holding = [part for _, guard in call_guards(index, tool) for part in _hold(guard)]
    asked = {n for p in holding if isinstance(p, Atom) and p.kind == "in_phase" for n in p.names}
    if not asked:
        return set()
    around = {p.name: {p.name, *(q.name for q in index.ancestors(p.name))} for p in index.phases}
    return {name for name, active in around.items() if not asked & active}


def ungrounded_commits(index: Index) -> Iterator[Finding]:
    """What a model made of the conversation opens a commit only if the caller's words bear it out.

    A read-back that the caller agreed to will do as well: a decision, or a key that depends on it.
    """
    said = Said(index)
    for name, tool in index.flow.tools.items():
        guards = [(p, g) for p, g in call_guards(index, name) if _is_enforced(index, p)]
        holding = [part for _, guard in guards for part in _hold(guard)]
        if not tool.commit or any(isinstance(part, Decided) for part in holding):
            continue
        borne_out = _borne_out(index, holding, said)
        for path, guard in guards:
            read = keys_behind(index.flow, _keys(guard))[0] - borne_out
            loose = [key for key in sorted(read) if said.landings(key)]
            if loose:
                yield _ungrounded(name, loose, guard, path, said)


def _ungrounded(name: str, keys: list[str], guard: Guard, path: Path, said: Said) -> Finding:
    listed = ", ".join(keys)
    groundable = all(said.landings(key)[0].can_be_grounded for key in keys)
    asked = " and ".join(f"grounded({key})" for key in keys)
    cure = f"ask `{asked}` too" if groundable else "let a record or a decision hear it, or quote it"
    return warning(
        "ungrounded_commit",
        f"{name!r} cannot be undone, and what opens it may be a model's guess: {listed}",
        path,
        suggestion=cure,
        fix=_grounded(guard, keys, path) if groundable else (),
        word=keys[0],
    )


def _grounded(guard: Guard, keys: Iterable[str], path: Path) -> Patch:
    for key in keys:
        guard = guard & grounded(key)
    return ({"op": "replace", "path": pointer(path), "value": str(guard)},)


def _hold(guard: Guard) -> Iterator[Guard]:
    """What must hold for the guard to hold."""
    if isinstance(guard, AllOf):
        for part in guard.guards:
            yield from _hold(part)
    else:
        yield guard


def _borne_out(index: Index, holding: Iterable[Guard], said: Said) -> set[str]:
    """Keys whose words are asked for, or that something rests on which is asked for."""
    found: set[str] = set()
    for part in holding:
        if isinstance(part, Atom) and part.kind == "grounded":
            found.update(map(bare, part.names))
        for key in _keys(part):
            spec = None if said.landings(key) else index.flow.state.get(bare(key))
            found.update(map(bare, spec.depends_on if spec else ()))
    return found


def _keys(guard: Guard) -> set[str]:
    """The keys whose values can open it; what a `not` stands before can only keep it shut."""
    match guard:
        case AllOf(guards) | AnyOf(guards):
            return {key for part in guards for key in _keys(part)}
        case Not():
            return set()
        case Atom() | Compare():
            return set(names_of(guard, "key"))
        case _:
            return set()


def compensations(index: Index) -> Iterator[Finding]:
    """What makes up for a tool is another one, and gets the arguments that it needs."""
    tools = index.flow.tools
    ways = {name: [tool.compensate_with] for name, tool in tools.items() if tool.compensate_with}
    for cycle in cycles(ways):
        chain = " by ".join([*cycle, cycle[0]])
        path = ("tools", cycle[0], "compensate_with")
        yield Finding("compensation_cycle", f"tools make up for each other: {chain}", path)
    for name, tool in tools.items():
        other = tools.get(tool.compensate_with or "")
        if other is None or not tool.args:
            continue
        lacking = [a for a, schema in other.args.items() if a not in tool.args and _needed(schema)]
        if lacking:
            yield Finding(
                "unknown_argument",
                f"{tool.compensate_with!r} gets the arguments of {name!r}, and needs "
                f"{', '.join(lacking)} besides",
                ("tools", name, "compensate_with"),
                suggestion="declare it as an argument here, or give it a default there",
            )


def _needed(schema: object) -> bool:
    return not (isinstance(schema, dict) and "default" in schema)
