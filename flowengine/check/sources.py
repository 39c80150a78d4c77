"""Tools whose function is not registered, or takes other arguments than the tool declares."""

from __future__ import annotations

from collections.abc import Iterator

from flowengine.errors import near_miss
from flowengine.flow.diagnostic import Finding, Path, listing
from flowengine.flow.functions import Declared
from flowengine.flow.index import Index
from flowengine.flow.signatures import Signature, Signatures
from flowengine.tools.spec import Tool


def unregistered_tools(index: Index, functions: Declared | None) -> Iterator[Finding]:
    """A tool that names no source of its own is a function registered under its name.

    Silent for a flow that comes without functions: its program brings them.
    """
    known = (functions or {}).get("tool")
    if functions is None or known is None:
        return
    tools = index.flow.tools
    spare = set(known) - set(tools) - {tool.run for tool in tools.values()}
    for name, tool in tools.items():
        if name not in known and _is_function(tool) and tool.run is None:
            yield _unregistered(name, sorted(spare), functions)


def _is_function(tool: Tool) -> bool:
    return tool.http is None and tool.mcp is None and tool.respond is None


def _unregistered(name: str, spare: list[str], functions: Declared) -> Finding:
    guess = near_miss(name, spare)
    elsewhere = next((kind for kind, names in functions.items() if name in names), None)
    cure = "register it with @functions.tool, or give it `run`, `http`, `mcp` or `respond`"
    if elsewhere:
        cure = f"it is registered as a {elsewhere}; register it with @functions.tool"
    elif guess:
        cure = f"functions.py registers {guess!r}: call the two alike, or write `run: {guess}`"
    return Finding(
        "unknown_function",
        f"no function is registered for tool {name!r}, so its calls fail",
        ("tools", name),
        suggestion=cure,
        on_key=True,
    )


def unfit_functions(index: Index, signatures: Signatures) -> Iterator[Finding]:
    """A tool's function takes the arguments that the tool declares, by their names."""
    for name, tool in index.flow.tools.items():
        signature = signatures.get(tool.run or name)
        if signature is not None and tool.args and _is_function(tool):
            yield from _unfit(name, tool, signature)


def _unfit(name: str, tool: Tool, signature: Signature) -> Iterator[Finding]:
    lacking = [needed for needed in signature.required if needed not in tool.args]
    for argument in tool.args if not signature.takes_any else ():
        if argument not in signature.names:
            free = [n for n in signature.names if n not in tool.args]
            meant = near_miss(argument, free) or (lacking[0] if len(lacking) == 1 else None)
            lacking = [needed for needed in lacking if needed != meant]
            yield _mismatch(
                f"the function of {name!r} takes no argument {argument!r}",
                ("tools", name, "args", argument),
                f"did you mean {meant!r}?" if meant else listing(signature.names),
            )
    for needed in lacking:
        yield _mismatch(
            f"the function of {name!r} needs argument {needed!r}, which the tool does not declare",
            ("tools", name, "args"),
            "declare it, or give the parameter a default",
        )


def _mismatch(message: str, path: Path, cure: str) -> Finding:
    return Finding("unfit_function", message, path, suggestion=cure, on_key=True)


def without_registry() -> Finding:
    """For a functions.py in which nothing is registered with anything."""
    return Finding(
        "no_registry",
        "functions.py has no registry, so it cannot be used",
        suggestion="begin it with `from flowengine import Functions` and `functions = Functions()`",
    )
