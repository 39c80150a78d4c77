"""A flow's own functions: registered by decorator, referred to by name.

A flow's folder may hold a functions.py with `functions = Functions()` in it. `check` and `render`
read its names as text; whatever runs the flow imports it.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, TypeAlias, TypeVar, overload

from flowengine.errors import FlowError, did_you_mean

KINDS = (
    "guard", "computed", "watcher", "resolver", "tool", "validator", "text", "extractor",
    "decision",
)  # fmt: skip
FILE = "functions.py"

Declared: TypeAlias = Mapping[str, Collection[str]]
"""Registered names by kind, such as `{"resolver": {"account"}}`."""
Keys: TypeAlias = Iterable[str] | None
F = TypeVar("F", bound=Callable[..., Any])


class _Kind:
    """A decorator of one kind, bare or with `name=` and the keys that the function `reads=`."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __get__(self, registry: Functions, owner: type[Functions]) -> _Register:
        return _Register(registry, self.kind)


class _Register:
    def __init__(self, registry: Functions, kind: str) -> None:
        self._registry = registry
        self._kind = kind

    @overload
    def __call__(self, function: F, /) -> F: ...
    @overload
    def __call__(
        self, function: None = None, /, *, name: str | None = None, reads: Keys = None
    ) -> Callable[[F], F]: ...
    def __call__(
        self, function: Any = None, /, *, name: str | None = None, reads: Keys = None
    ) -> Any:
        def register(function: Any) -> Any:
            self._registry.add(self._kind, name or function.__name__, function, reads=reads)
            return function

        if isinstance(function, str):
            raise FlowError(f"write the name as @functions.{self._kind}(name={function!r})")
        return register(function) if function is not None else register


class Functions:
    """A registry of functions by kind and name.

    `@functions.resolver` takes the function's own name; `@functions.guard(name="late",
    reads=["due"])` takes another, and the keys on which its answer depends.
    """

    guard = _Kind("guard")
    computed = _Kind("computed")
    watcher = _Kind("watcher")
    resolver = _Kind("resolver")
    tool = _Kind("tool")
    validator = _Kind("validator")
    text = _Kind("text")
    extractor = _Kind("extractor")
    decision = _Kind("decision")

    def __init__(self) -> None:
        self._by_kind: dict[str, dict[str, Callable[..., Any]]] = {kind: {} for kind in KINDS}

    def add(
        self, kind: str, name: str, function: Callable[..., Any], *, reads: Keys = None
    ) -> None:
        """What the decorators do; a name can be taken once in each kind."""
        known = self.of(kind)
        if name in known and known[name] is not function:
            raise FlowError(f"{kind} {name!r} is registered twice; give one of them a `name=`")
        if reads is not None:
            function.reads = tuple(reads)  # pyright: ignore[reportFunctionMemberAccess]
        self._by_kind[kind][name] = function

    def of(self, kind: str) -> Mapping[str, Callable[..., Any]]:
        """All functions of a kind by name."""
        if kind not in self._by_kind:
            guess = did_you_mean(kind, KINDS)
            raise FlowError(f"there is no kind of function {kind!r}.{guess}")
        return MappingProxyType(self._by_kind[kind])

    def lookup(self, kind: str, name: str) -> Callable[..., Any]:
        """The function of this kind and name.

        Raises:
            FlowError: there is none; the message has the near miss.
        """
        known = self.of(kind)
        if name in known:
            return known[name]
        elsewhere = [k for k in KINDS if name in self._by_kind[k]]
        hint = f" It is registered as a {elsewhere[0]}." if elsewhere else ""
        hint = hint or did_you_mean(name, known)
        raise FlowError(f"{kind} {name!r} is not registered: decorate it @functions.{kind}.{hint}")

    def declared(self) -> dict[str, frozenset[str]]:
        """The names by kind, as `declared_functions` gives them."""
        return {kind: frozenset(names) for kind, names in self._by_kind.items()}

    def source_hash(self) -> str:
        """Changes when a function is added, renamed, moved or edited; part of the flow's hash."""
        digest = hashlib.sha256()
        for kind in KINDS:
            for name, function in sorted(self._by_kind[kind].items()):
                qualified = getattr(function, "__qualname__", type(function).__qualname__)
                digest.update("\0".join((kind, name, qualified, _source(function), "")).encode())
        return digest.hexdigest()


def declared_functions(path: str | Path) -> dict[str, frozenset[str]]:
    """The names that a functions.py (or a folder's) registers, read as text; nothing is run.

    Raises:
        FlowError: the file is not Python.
    """
    file = _file(path)
    names: dict[str, set[str]] = {kind: set() for kind in KINDS}
    if file.is_file():
        for kind, name, _ in registrations(parsed(file)):
            names[kind].add(name)
    return {kind: frozenset(known) for kind, known in names.items()}


def registrations(tree: ast.Module) -> Iterator[tuple[str, str, ast.AST]]:
    """Every kind and name that a file's text registers, with what is registered."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for decorator in node.decorator_list:
                if found := _registration(decorator, node.name):
                    yield *found, node


def parsed(file: Path) -> ast.Module:
    """The file as Python; nothing is run.

    Raises:
        FlowError: it is not Python.
    """
    try:
        return ast.parse(file.read_bytes(), str(file))
    except SyntaxError as error:
        raise FlowError(f"{file}:{error.lineno or 1}: {error.msg}") from error
    except (ValueError, RecursionError, OSError) as error:
        raise FlowError(f"{file}: it cannot be read as Python ({type(error).__name__})") from error


def load_functions(folder: str | Path) -> Functions:
    """Import a folder's functions.py and return its registry; an empty one if there is no file.

    Raises:
        FlowError: there is no such folder, or the file cannot be imported; names its line, and
            chains the cause.
    """
    file = _file(folder)
    if not file.parent.is_dir() or (file.name != FILE and not file.exists()):
        raise FlowError(f"{folder}: there is no such folder{_beside(Path(folder))}")
    if not file.is_file():
        return Functions()
    module = _imported(file)
    found = [value for value in vars(module).values() if isinstance(value, Functions)]
    if not found:
        raise FlowError(f"{file}: no registry in it; begin with `functions = Functions()`")
    if len({id(registry) for registry in found}) > 1:
        raise FlowError(f"{file}: more than one registry; one `functions = Functions()` is enough")
    return found[0]


def _beside(path: Path) -> str:
    """The folder that was probably meant, as a sentence."""
    if not path.parent.is_dir():
        return ""
    return did_you_mean(path.name, [p.name for p in path.parent.iterdir() if p.is_dir()])


def _file(path: str | Path) -> Path:
    path = Path(path)
    return path / FILE if path.is_dir() else path


def _registration(decorator: ast.expr, own_name: str) -> tuple[str, str] | None:
    """The kind and name behind `@functions.kind` or `@functions.kind(name="...")`."""
    call = decorator if isinstance(decorator, ast.Call) else None
    target = call.func if call else decorator
    if not isinstance(target, ast.Attribute) or target.attr not in KINDS:
        return None
    for keyword in call.keywords if call else ():
        if keyword.arg == "name" and isinstance(keyword.value, ast.Constant):
            return target.attr, str(keyword.value.value or own_name)
    return target.attr, own_name


def _imported(file: Path) -> ModuleType:
    """Run the file as a module of its own name, so that two flows never share one."""
    digest = hashlib.sha256(str(file.resolve()).encode()).hexdigest()[:16]
    name = f"flowengine_functions_{digest}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise FlowError(f"{file}: its name does not end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except FlowError:
        del sys.modules[name]
        raise
    except Exception as error:
        del sys.modules[name]
        where = f"{file}:{_line(error, file)}"
        raise FlowError(f"{where}: importing it raised {_said(error)}") from error
    return module


def _line(error: Exception, file: Path) -> int:
    """The last line of the file that was running."""
    if isinstance(error, SyntaxError) and error.lineno:
        return error.lineno
    line, trace = 1, error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == str(file):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _source(function: Callable[..., Any]) -> str:
    """The text of a function; its code for one that has no text, such as one made in a shell."""
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        code = getattr(function, "__code__", None)
        return repr((code.co_code, code.co_consts)) if code else repr(type(function))
