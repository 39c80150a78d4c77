"""Arguments of tools and resolvers that something reads, although there are none of that name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from flowengine.errors import near_miss
from flowengine.flow.diagnostic import Finding, Path, listing, pointer
from flowengine.flow.index import Index
from flowengine.flow.text import template_keys
from flowengine.guards import Compare, Guard, Read, atoms_of
from flowengine.resolve.spec import Resolver
from flowengine.sources.template import argument_reads
from flowengine.tools.spec import Tool

_TEXTS = ("idempotency_key", "confirm")


def unknown_arguments(index: Index) -> Iterator[Finding]:
    """`args.x` in guards over calls, keys of calls and requests names a declared argument."""
    for name, tool in index.flow.tools.items():
        path: Path = ("tools", name)
        if tool.args:
            yield from _in_guards(index, name, tool)
            yield from _in_texts(tool, path)
            yield from _in_requests(tool, path, tool.args)
    for name, resolver in index.flow.resolvers.items():
        known = {part for arg in resolver.args for part in (arg, arg.partition(".")[0])}
        yield from _in_requests(resolver, ("resolvers", name), known)


def misplaced_arguments(index: Index) -> Iterator[Finding]:
    """Only guards over calls can ask about a call's arguments."""
    over_calls = {path for name in index.flow.tools for path, _ in call_guards(index, name)}
    for path, guard in index.guards:
        if path not in over_calls and (asked := _asked(guard)):
            yield _misplaced(path, asked[0])


def call_guards(index: Index, tool: str) -> Iterator[tuple[Path, Guard]]:
    """The guards that judge the calls of a tool."""
    own = index.flow.tools[tool].when
    if own is not None:
        yield ("tools", tool, "when"), own
    for at, rule in enumerate(index.flow.constraints):
        if rule.never == tool and rule.until is not None:
            yield ("constraints", at, "until"), rule.until


def _asked(guard: Guard) -> list[str]:
    terms = (t for leaf in atoms_of(guard) if isinstance(leaf, Compare) for t in leaf.terms)
    return [term.name for term in terms if isinstance(term, Read) and term.kind == "arg"]


def _misplaced(path: Path, name: str) -> Finding:
    return Finding(
        "unknown_argument",
        f"`args.{name}` is known only to the guards over a call, and no call is judged here",
        path,
        word=f"args.{name}",
    )


def _in_guards(index: Index, name: str, tool: Tool) -> Iterator[Finding]:
    for path, guard in call_guards(index, name):
        for argument in _asked(guard):
            yield from _unknown(argument, tool.args, path, str(guard))


def _in_texts(tool: Tool, path: Path) -> Iterator[Finding]:
    for field in _TEXTS:
        text: Any = getattr(tool, field)
        for key in template_keys(text) if isinstance(text, str) else ():
            if key.startswith("args."):
                yield from _unknown(key[5:], tool.args, (*path, field), text)


def _in_requests(part: Tool | Resolver, path: Path, known: Collection[str]) -> Iterator[Finding]:
    templates: list[tuple[str, Any]] = []
    if part.http is not None:
        templates.append(("http", part.http.texts))
    if part.mcp is not None:
        templates.append(("mcp", part.mcp.args))
    for field, template in templates:
        for argument in argument_reads(template):
            yield from _unknown(argument, known, (*path, field))


def _unknown(
    argument: str, known: Collection[str], path: Path, text: str | None = None
) -> Iterator[Finding]:
    """The near miss replaces it in the whole text, if that is known."""
    root = argument.partition(".")[0]
    if argument in known or root in known:
        return
    guess = near_miss(root, known)
    finding = Finding(
        "unknown_argument",
        f"there is no argument {root!r}",
        path,
        suggestion=f"did you mean {guess!r}?" if guess else listing(known),
        word=f"args.{root}",
    )
    if guess and text is not None:
        cured = re.sub(rf"\bargs\.{re.escape(root)}\b", f"args.{guess}", text)
        finding = finding._replace(fix=({"op": "replace", "path": pointer(path), "value": cured},))
    yield finding
