"""Names in scenarios that their flow does not have: a misspelt one would make a test idle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flowengine.errors import near_miss
from flowengine.flow.diagnostic import Finding, Path, unknown
from flowengine.flow.index import Index
from flowengine.flow.model import Flow
from flowengine.flow.uses import events_of, is_runtime, reads, resolver_names, root_of, writes
from flowengine.state.keys import bare
from flowengine.testing.expect import Answered, End, Expect, Never, ToolSets
from flowengine.testing.fields import misspelt_fields, unfit_values
from flowengine.testing.scenario import CallTool, Decided, Extracted, Scenario, Step, Turn


def misnamed(scenarios: Iterable[Scenario], flow: Flow) -> Iterator[Finding]:
    """Every such name; a path begins with the scenario's number."""
    names = _Names(flow)
    for at, scenario in enumerate(scenarios):
        yield from names.in_scenario(scenario, (at,))


class _Names:
    """What a flow calls its parts."""

    def __init__(self, flow: Flow) -> None:
        index = Index(flow)
        self.phases = list(index.by_name)
        self.tools = list(flow.tools)
        self.extracts = {spec.name: spec for spec in flow.extract}
        self.extractors = list(self.extracts)
        functions = {action.run for _, action in index.actions if action.run}
        self.decisions = list(flow.decisions)
        fields = {f"{name}.{field}" for name, record in flow.records.items()
                  for field, spec in record.fields.items() if spec.resolve}  # fmt: skip
        self.resolvers = sorted({*resolver_names(index), *fields})
        self.runs = sorted({*self.resolvers, *functions, *flow.tools, *flow.records})
        self.open = [*self.runs, *self.extractors, "decision"]
        self.events = _events(index)
        uses = (use.key for uses in (reads(index), writes(index)) for use in uses)
        self.keys = {*map(bare, flow.state), *map(bare, uses)}

    def in_scenario(self, scenario: Scenario, path: Path) -> Iterator[Finding]:
        given = scenario.given
        yield from _known("phase", given.phase, self.phases, (*path, "given", "phase"))
        yield from self._extracted(given.extract, (*path, "given", "extract"))
        yield from self._decided(given.decide, (*path, "given", "decide"))
        for name in given.resolve:
            yield from _known("resolver", name, self.resolvers, (*path, "given", "resolve", name))
        yield from self._never(scenario.never, (*path, "never"))
        own = {bare(key) for key in _written(scenario)}
        for at, end in enumerate(scenario.outcomes):
            yield from self._end(end, (*path, "outcomes", at), own)
        for at, step in enumerate(scenario.turns):
            yield from self._in_step(step, (*path, "turns", at), own)

    def _in_step(self, step: Step, path: Path, own: set[str]) -> Iterator[Finding]:
        yield from self._answers(step, path)
        if step.repeat:
            yield from self._answers(step.repeat, (*path, "repeat"))
        if step.resolve:
            name = step.resolve.name
            yield from _known("resolver", name, self.runs, (*path, "resolve", "name"))
        if step.tool and not _is_unknown_on_purpose(step.tool):
            yield from _known("tool", step.tool.name, self.tools, (*path, "tool", "name"))
        if step.event and near_miss(step.event, self.events):
            yield from _known("event", step.event, self.events, (*path, "event"))
        if step.expect:
            yield from self._in_expect(step.expect, (*path, "expect"), own)

    def _answers(self, turn: Turn, path: Path) -> Iterator[Finding]:
        yield from self._extracted(turn.extract, (*path, "extract"))
        yield from self._decided(turn.decide, (*path, "decide"))

    def _never(self, never: Never, path: Path) -> Iterator[Finding]:
        yield from _all(never.admitted, "tool", self.tools, (*path, "admitted"))
        yield from _all(never.denied, "tool", self.tools, (*path, "denied"))
        yield from _all(never.phases, "phase", self.phases, (*path, "phases"))

    def _in_expect(self, expect: Expect, path: Path, own: set[str]) -> Iterator[Finding]:
        yield from _known("phase", expect.phase, self.phases, (*path, "phase"))
        yield from _all(expect.phases, "phase", self.phases, (*path, "phases"))
        yield from self._tools(expect, (*path, "tools"))
        yield from _all(expect.running, "run", self.open, (*path, "running"))
        for at, delivered in enumerate(expect.delivered or ()):
            where = (*path, "delivered", at, "tool")
            yield from _known("tool", delivered.tool, self.tools, where)
        for key in expect.keys:
            yield from self._key(key, (*path, "keys", key), own)
        for name in ("absent", "unmet"):
            for at, key in enumerate(getattr(expect, name) or ()):
                yield from self._key(key, (*path, name, at), own)
        for phase, keys in expect.why_not.items():
            yield from _known("phase", phase, self.phases, (*path, "why_not", phase))
            for at, key in enumerate(keys):
                yield from self._key(key, (*path, "why_not", phase, at), own)

    def _end(self, end: End, path: Path, own: set[str]) -> Iterator[Finding]:
        yield from _known("phase", end.phase, self.phases, (*path, "phase"))
        yield from _all(end.phases, "phase", self.phases, (*path, "phases"))
        for tool in end.calls:
            yield from _known("tool", tool, self.tools, (*path, "calls", tool))
        for key in end.keys:
            yield from self._key(key, (*path, "keys", key), own)
        for at, key in enumerate(end.absent):
            yield from self._key(key, (*path, "absent", at), own)

    def _tools(self, expect: Expect, path: Path) -> Iterator[Finding]:
        if isinstance(expect.tools, ToolSets):
            yield from _all(expect.tools.allowed, "tool", self.tools, (*path, "allowed"))
            yield from _all(expect.tools.denied, "tool", self.tools, (*path, "denied"))
        else:
            yield from _all(expect.tools, "tool", self.tools, path)

    def _extracted(self, script: Extracted, path: Path) -> Iterator[Finding]:
        for name, fields in script.items():
            yield from _known("extractor", name, self.extractors, (*path, name))
            if name in self.extracts and isinstance(fields, dict):
                yield from misspelt_fields(self.extracts[name], fields, (*path, name))
                yield from unfit_values(self.extracts[name], fields, (*path, name))

    def _decided(self, script: Decided, path: Path) -> Iterator[Finding]:
        for name in script if isinstance(script, dict) else ():
            yield from _known("decision", name, self.decisions, (*path, name))

    def _key(self, key: str, path: Path, own: set[str]) -> Iterator[Finding]:
        """Functions may write keys that no file names: only what looks misspelt is one."""
        known = self.keys | own
        if is_runtime(key) or root_of(key, known) or near_miss(bare(key), known) is None:
            return
        finding = unknown("unknown_name", "key", bare(key), known, path)
        yield finding._replace(on_key=path[-1] == key, fix=())


def _events(index: Index) -> list[str]:
    """The events that something in the flow waits for or raises."""
    raised = [action.raise_ for _, action in index.actions]
    return sorted({*events_of(index), *(event for event in raised if event)})


def _is_unknown_on_purpose(tool: CallTool) -> bool:
    return isinstance(tool.expect, Answered) and tool.expect.denied == "unknown_tool"


def _written(scenario: Scenario) -> Iterator[str]:
    yield from scenario.given.state
    for step in scenario.turns:
        yield from (*step.values, *(step.set or ()))


def _known(what: str, name: str | None, known: list[str], path: Path) -> Iterator[Finding]:
    if name is not None and name not in known:
        finding = unknown("unknown_name", what, name, known, path)
        yield finding._replace(on_key=path[-1] == name, fix=())


def _all(names: Iterable[str] | None, what: str, known: list[str], path: Path) -> Iterator[Finding]:
    for at, name in enumerate(names or ()):
        yield from _known(what, name, known, (*path, at))
