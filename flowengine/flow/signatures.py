"""What the tools of a functions.py take, and whether it has a registry: read as text, or live."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

from flowengine.errors import FlowError
from flowengine.flow.functions import Functions, parsed, registrations
from flowengine.sources.arguments import arguments_of
from flowengine.tools.context import ToolContext

_REGISTRY = "Functions"


class Signature(NamedTuple):
    """The arguments that a function takes by name."""

    names: tuple[str, ...]
    required: tuple[str, ...]
    takes_any: bool = False


Signatures: TypeAlias = Mapping[str, Signature]
"""By the name under which a tool's function is registered."""


def signatures_of(functions: Functions) -> Signatures:
    """Those of the functions themselves; without what cannot be called by name."""
    found: dict[str, Signature] = {}
    for name, function in functions.of("tool").items():
        try:
            taken = arguments_of(function, ToolContext)
        except FlowError:
            continue
        found[name] = Signature(taken.names, taken.required, taken.takes_any)
    return found


def declared_signatures(file: Path) -> Signatures:
    """The same, read as text; a class or a name that is registered twice is taken on trust.

    Raises:
        FlowError: the file is not Python.
    """
    found: dict[str, list[ast.AST]] = {}
    for kind, name, node in registrations(parsed(file)):
        if kind == "tool":
            found.setdefault(name, []).append(node)
    return {
        name: _signature(nodes[0].args)
        for name, nodes in found.items()
        if len(nodes) == 1 and isinstance(nodes[0], ast.FunctionDef | ast.AsyncFunctionDef)
    }


def has_registry(file: Path) -> bool:
    """Whether something in the file is, or may be, a registry: made there, or imported.

    Raises:
        FlowError: the file is not Python.
    """
    tree = parsed(file)
    used = {base for *_, node in registrations(tree) for base in _bases(node)} or {"functions"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == _REGISTRY:
            return True
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = {alias.asname or alias.name for alias in node.names}
            if names & {*used, "*"}:
                return True
    return False


def _signature(arguments: ast.arguments) -> Signature:
    """The context is given by the runtime, not by the call."""
    positional = [*arguments.posonlyargs, *arguments.args]
    without = len(positional) - len(arguments.defaults)
    needed = [*positional[:without]]
    needed += [a for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if not d]
    named = [a for a in (*positional, *arguments.kwonlyargs) if not _is_context(a)]
    return Signature(
        tuple(argument.arg for argument in named),
        tuple(argument.arg for argument in needed if not _is_context(argument)),
        arguments.kwarg is not None or arguments.vararg is not None,
    )


def _is_context(argument: ast.arg) -> bool:
    return argument.annotation is not None and "Context" in ast.unparse(argument.annotation)


def _bases(node: ast.AST) -> Iterator[str]:
    """What stands before the dot of a decorator: `functions` in `@functions.tool`."""
    for decorator in getattr(node, "decorator_list", ()):
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        if isinstance(target, ast.Attribute):
            yield ast.unparse(target.value).split(".")[0]
