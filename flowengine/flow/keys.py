"""What a flow says about its keys must hold together: owners, writers, and no cycle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flowengine.errors import near_miss
from flowengine.flow.cycles import cycles
from flowengine.flow.diagnostic import Finding, Path, pointer
from flowengine.flow.index import Index
from flowengine.flow.reaction import Computed
from flowengine.flow.uses import Use, writes
from flowengine.guards import names_of
from flowengine.guards.reads import guard_reads
from flowengine.state.keys import MODEL_WRITERS, RUNTIME_PREFIXES, bare

_PROGRESS = (
    "@turn", "@phase", "@resolved:", "@called:", "@done:", "@decided:", "@corrected:", "@elapsed",
)  # fmt: skip
"""What changes while no key does."""


def declared_once(index: Index) -> Iterator[Finding]:
    """`x` and `derived:x` are one key."""
    for section, names in (("state", index.flow.state), ("computed", index.flow.computed)):
        for name in names:
            if name != bare(name) and bare(name) in names:
                message = f"{bare(name)!r} and {name!r} are the same key"
                yield Finding("same_key", message, (section, name), on_key=True)


def owned_keys(index: Index) -> Iterator[Finding]:
    """A computed key or a promotion does not write what is reserved for other writers."""
    keys = index.flow.state
    for use in writes(index):
        spec = keys.get(bare(use.key)) if use.by and use.by != "action" else None
        if spec is None or use.by in _meant(index, spec.writers):
            continue
        if spec.writers and use.by not in spec.writers:
            yield _owned(use, f"is written by {', '.join(spec.writers)} alone")
        elif spec.trusted and use.by.startswith((*MODEL_WRITERS, "computed")):
            yield _owned(use, "is trusted: no model, no decision and no computed key writes it")


def _owned(use: Use, why: str) -> Finding:
    what = "a computed key" if use.by == "computed" else use.by
    message = f"key {use.key!r} {why}, so {what} cannot"
    return Finding("owned_key", message, use.path, on_key=use.by == "computed", word=use.key)


def misspelt_writers(index: Index) -> Iterator[Finding]:
    """`writers: ["tool:verfy"]` is a slip of the pen where the flow has the tool `verify`."""
    for name, spec in index.flow.state.items():
        for at, writer in enumerate(spec.writers):
            if guess := _meant(index, [writer]):
                path: Path = ("state", name, "writers", at)
                yield Finding(
                    "unknown_writer",
                    f"there is no {writer!r} that could write key {name!r}",
                    path,
                    suggestion=f"did you mean {guess[0]!r}?",
                    fix=({"op": "replace", "path": pointer(path), "value": guess[0]},),
                    word=writer,
                )


def _meant(index: Index, writers: Iterable[str]) -> list[str]:
    """The parts of the flow that these writers nearly name, in place of themselves."""
    flow = index.flow
    parts = {
        "tool": list(flow.tools), "record": list(flow.records), "decision": list(flow.decisions),
        "extractor": [extract.name for extract in flow.extract],
    }  # fmt: skip
    guesses: list[str] = []
    for kind, _, name in (writer.partition(":") for writer in writers):
        known = parts.get(kind, [])
        if name and name not in known and (guess := near_miss(name, known)):
            guesses.append(f"{kind}:{guess}")
    return guesses


def reserved_keys(index: Index) -> Iterator[Finding]:
    """Keys that the runtime keeps are not declared and not written."""
    named = [Use(name, ("state", name)) for name in index.flow.state if bare(name) == name]
    for use in [*named, *(use for use in writes(index) if use.by and use.by != "computed")]:
        prefix = next((p for p in RUNTIME_PREFIXES if use.key.startswith(p)), None)
        if prefix:
            message = f"key {use.key!r}: `{prefix}` keys are written by the runtime alone"
            yield Finding("reserved_key", message, use.path, on_key=_is_key(use), word=use.key)


def _is_key(use: Use) -> bool:
    return bool(use.path) and use.path[-1] == use.key


def computed_cycles(index: Index) -> Iterator[Finding]:
    """No computed key depends on itself, by whatever way round."""
    graph = {bare(name): sources_of(c) for name, c in index.flow.computed.items()}
    spelled = {bare(name): name for name in index.flow.computed}
    for cycle in cycles({name: sorted(sources) for name, sources in graph.items()}):
        path = ("computed", spelled[cycle[0]])
        chain = " -> ".join([*cycle, cycle[0]])
        yield Finding("computed_cycle", f"computed keys go in a circle: {chain}", path, on_key=True)


def unfollowed_cases(index: Index) -> Iterator[Finding]:
    """A computed key follows keys alone; how the call stands may change without any."""
    for name, computed in index.flow.computed.items():
        for at, case in enumerate(computed.cases or ()):
            if any(read.startswith(_PROGRESS) for read in guard_reads(case.when, {})):
                yield Finding(
                    "unfollowed_case",
                    f"computed key {name!r} follows keys, and {case.when} asks how the call stands",
                    ("computed", name, "cases", at, "when"),
                    suggestion="ask it where the key is read, or ask a key: the answer to a "
                    "question is one, as in `decision:agrees.outcome == 'yes'`",
                )


def sources_of(computed: Computed) -> set[str]:
    """The keys that it says it reads, a path also by its first part."""
    named = {*(computed.reads or ()), *(computed.value.reads() if computed.value else ())}
    if computed.of is not None:
        named.add(computed.of)
    for case in computed.cases or ():
        named.update(names_of(case.when, "key"))
    return {part for name in named for part in (bare(name), bare(name).partition(".")[0])}
