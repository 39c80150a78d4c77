"""What was expected beside what is: every difference of one step, ready to be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from flowengine.effects import Deliver
from flowengine.facts import as_json, canonical_json
from flowengine.flow.diagnostic import Path
from flowengine.inputs import Json
from flowengine.runtime.outcome import Accepted, Cancelled, Denied, Failed, Ran, ToolOutcome
from flowengine.runtime.result import TurnResult
from flowengine.testing.expect import Answered, Expect, ToolSets
from flowengine.testing.simulation import Simulation


class Mismatch(NamedTuple):
    """One thing that is not as expected; the path leads to the expectation."""

    code: str
    message: str
    path: Path
    body: str = ""
    """The difference, and why it may be so, over several lines."""


class Seen(NamedTuple):
    """A call after a step, with what the step brought; a repeated turn brings several results."""

    call: Simulation
    results: tuple[TurnResult, ...]

    @property
    def facts(self) -> list[dict[str, Json]]:
        return [as_json(fact) for result in self.results for fact in result.facts]

    def find(self, key: str) -> Json:
        """The stored value, under State's lookup rule."""
        values = self.call.snapshot.values
        own = values.get(key)
        return own if own is not None or ":" in key else values.get(f"derived:{key}")


def mismatches(expect: Expect, seen: Seen) -> list[Mismatch]:
    """Everything in which a call differs from what is expected of it."""
    checks = (_place(expect, seen), _keys(expect, seen), _words(expect, seen),
              _tools(expect, seen), _runs(expect, seen), _facts(expect, seen),
              _why_not(expect, seen))  # fmt: skip
    return [mismatch for check in checks for mismatch in check]


def _place(expect: Expect, seen: Seen) -> Iterator[Mismatch]:
    call = seen.call
    if expect.phase is not None and expect.phase != call.phase:
        message = f"expected phase {expect.phase!r}, is {call.phase!r}"
        why = f"why not {expect.phase!r}:\n{_indented(str(call.why_not(expect.phase)))}"
        yield Mismatch("phase", message, ("phase",), why)
    if expect.phases is not None and expect.phases != call.phases:
        yield _list("phases", "active phases", expect.phases, call.phases)
    if expect.ended is not None and expect.ended != call.ended:
        is_now = "has ended" if call.ended else f"goes on in {call.phase!r}"
        yield Mismatch("ended", f"expected ended to be {_json(expect.ended)}, the call {is_now}",
                       ("ended",))  # fmt: skip


def _keys(expect: Expect, seen: Seen) -> Iterator[Mismatch]:
    wanted = {**dict.fromkeys(expect.absent), **expect.keys}
    wrong = [key for key, value in wanted.items() if _json(value) != _json(seen.find(key))]
    if not wrong:
        return
    path: Path = ("keys",) if expect.keys else ("absent",)
    if len(wrong) == 1:
        path = ("keys", wrong[0]) if wrong[0] in expect.keys else ("absent",)
    rows = [
        ("✗" if key in wrong else "✓", key, _shown(value), _shown(seen.find(key)))
        for key, value in wanted.items()
    ]
    names = ", ".join(wrong)
    message = f"{names} {'is' if len(wrong) == 1 else 'are'} not as expected"
    yield Mismatch("keys", message, path, _table([("", "key", "expected", "is"), *rows]))


def _words(expect: Expect, seen: Seen) -> Iterator[Mismatch]:
    said = tuple(words for result in seen.results for words in result.said)
    told = tuple(tell.text for result in seen.results for tell in result.told)
    for name, wanted, found in (("said", expect.said, said), ("told", expect.told, told)):
        if isinstance(wanted, str):
            if not any(wanted in words for words in found):
                message = f"expected {wanted!r} to be {name}"
                yield Mismatch(name, message, (name,), _listing(f"{name} was", found))
        elif wanted is not None and wanted != found:
            yield _list(name, f"words that were {name}", wanted, found)
    if expect.context is not None:
        text = seen.call.context.text()
        parts = (expect.context,) if isinstance(expect.context, str) else expect.context
        for part in parts:
            if part not in text:
                body = f"the context is:\n{_indented(text)}"
                yield Mismatch("context", f"{part!r} is not in the context", ("context",), body)


def _tools(expect: Expect, seen: Seen) -> Iterator[Mismatch]:
    context = seen.call.context
    if expect.unmet is not None and sorted(expect.unmet) != sorted(context.unmet):
        yield _list("unmet", "unmet needs", expect.unmet, context.unmet)
    if isinstance(expect.tools, ToolSets):
        absent = [tool for tool in expect.tools.allowed if tool not in context.tools]
        present = [tool for tool in expect.tools.denied if tool in context.tools]
        body = _listing("available are", context.tools)
        for tool in absent:
            yield Mismatch("tools", f"{tool!r} is not available", ("tools", "allowed"), body)
        for tool in present:
            yield Mismatch("tools", f"{tool!r} is available", ("tools", "denied"), body)
    elif expect.tools is not None and sorted(expect.tools) != sorted(context.tools):
        yield _list("tools", "available tools", expect.tools, context.tools)


def _runs(expect: Expect, seen: Seen) -> Iterator[Mismatch]:
    if expect.running is not None and sorted(expect.running) != sorted(seen.call.running):
        yield _list("running", "runs that have not answered", expect.running, seen.call.running)
    if expect.delivered is None:
        return
    wanted = [each.model_dump(exclude_unset=True) for each in expect.delivered]
    found = [_delivery(each) for result in seen.results for each in result.delivered]
    if len(wanted) != len(found) or not all(map(_matches, wanted, found)):
        body = _listing("delivered were", map(_json, found))
        yield Mismatch("delivered", "other results were delivered", ("delivered",), body)


def _delivery(deliver: Deliver) -> dict[str, Json]:
    answer = deliver.answer
    told: dict[str, Json] = {"tool": deliver.tool, "manner": deliver.manner}
    ran = answer.status == "ran"
    return {**told, "ran": answer.value} if ran else {**told, "failed": answer.kind}


def _facts(expect: Expect, seen: Seen) -> Iterator[Mismatch]:
    facts = seen.facts
    body = _listing("the facts of this step are", map(_as_written, facts))
    at = 0
    for index, wanted in enumerate(expect.facts):
        found = next((n for n in range(at, len(facts)) if _matches(wanted, facts[n])), None)
        if found is None:
            after = " after those before it" if index else ""
            message = f"expected the fact {_as_written(wanted)}{after}"
            yield Mismatch("facts", message, ("facts", index), body)
            break
        at = found + 1
    for index, unwanted in enumerate(expect.no_facts):
        if any(_matches(unwanted, fact) for fact in facts):
            message = f"expected no fact {_as_written(unwanted)}"
            yield Mismatch("no_facts", message, ("no_facts", index), body)


def _why_not(expect: Expect, seen: Seen) -> Iterator[Mismatch]:
    for phase, keys in expect.why_not.items():
        why = seen.call.why_not(phase)
        path: Path = ("why_not", phase)
        if phase in why.active:
            yield Mismatch("why_not", f"expected not to be in {phase!r}, but it is active", path)
        elif sorted(keys) != sorted(why.missing):
            found = ", ".join(why.missing) or "nothing"
            wanted = ", ".join(keys) or "nothing"
            message = f"expected {wanted} to be missing for {phase!r}, missing is {found}"
            yield Mismatch("why_not", message, path, _indented(str(why)))


def answered(expect: str | Answered, outcome: ToolOutcome | None, path: Path) -> Iterator[Mismatch]:
    """Where the end of a tool call differs from what is expected of it."""
    told = _told(outcome)
    wanted = (
        {"status": expect} if isinstance(expect, str) else expect.model_dump(exclude_unset=True)
    )
    wrong = [name for name, value in wanted.items() if _json(value) != _json(told.get(name))]
    if wrong:
        rows = [
            ("✗" if name in wrong else "✓", name, _shown(value), _shown(told.get(name)))
            for name, value in wanted.items()
        ]
        say = f"\n{outcome.say}" if isinstance(outcome, Denied) and outcome.say else ""
        body = _table([("", "", "expected", "is"), *rows]) + say
        message = f"expected another end of the call: it {_ENDS[told['status']]}"
        yield Mismatch("tool", message, path, body)


_ENDS = {
    "ran": "ran", "denied": "was denied", "failed": "failed", "cancelled": "was cancelled",
    "accepted": "was accepted", "waits": "still waits",
}  # fmt: skip


def _told(outcome: ToolOutcome | None) -> dict[str, Any]:
    match outcome:
        case Ran(value):
            return {"status": "ran", "ran": value}
        case Denied(kind, missing):
            return {"status": "denied", "denied": kind, "missing": list(missing)}
        case Failed(error):
            return {"status": "failed", "failed": error}
        case Cancelled():
            return {"status": "cancelled"}
        case Accepted():
            return {"status": "accepted"}
        case None:
            return {"status": "waits"}


# -- text -----------------------------------------------------------------------------------------


def _matches(partial: Mapping[str, Json], fact: Mapping[str, Json]) -> bool:
    return all(name in fact and _json(fact[name]) == _json(v) for name, v in partial.items())


def _list(name: str, what: str, wanted: Sequence[str], found: Sequence[str]) -> Mismatch:
    """Two lists, item beside item as far as they agree."""
    lines = [f"  ✓ {item}" if item in found else f"  - {item}" for item in wanted]
    lines += [f"  + {item}" for item in found if item not in wanted]
    legend = "- expected, + there" if any(line[2] != "✓" for line in lines) else "in another order"
    body = "\n".join([*lines, f"({legend})"])
    return Mismatch(name, f"the {what} differ", (name,), body)


def _listing(title: str, items: Iterable[str]) -> str:
    lines = [f"  {item}" for item in items] or ["  nothing"]
    return "\n".join([f"{title}:", *lines])


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  "
        + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _as_written(fact: Mapping[str, Json]) -> str:
    """As a scenario file spells it, to be copied from there to here."""
    fields = (f"{k}: {v if k == 'fact' else _json(v)}" for k, v in fact.items())
    return f"{{{', '.join(fields)}}}"


def _shown(value: Any) -> str:
    return "absent" if value is None else _json(value)


def _json(value: Any) -> str:
    return canonical_json(value)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" if line else "" for line in text.splitlines())
