"""Replays recorded calls on a flow: one after another, or on several processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from flowengine.batch.calls import Call, Unreadable
from flowengine.batch.playback import play
from flowengine.batch.report import CallReport, report_of
from flowengine.errors import FlowEngineError
from flowengine.flow.functions import Functions, load_functions
from flowengine.flow.load import load
from flowengine.flow.model import Flow
from flowengine.kernel import Kernel

CHUNK = 16
"""Calls that a process takes at once."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to replay."""

    start: int
    """When a call took place that does not say so (ms since the epoch, UTC)."""
    state: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What every call starts with."""
    reveal: bool = False
    """Show the values of pii keys and their words."""


def replay(
    flow: Flow, calls: Iterable[Call], options: Options, *, functions: Functions | None = None
) -> Iterator[CallReport]:
    """A report for each call, in order; a call that cannot be replayed has an `error`.

    Raises:
        FlowError: the flow cannot be compiled.
    """
    kernel = Kernel(flow, functions)
    return (_report(kernel, options, call) for call in calls)


def replay_folder(
    path: str | Path, calls: Iterable[Call], options: Options, *, jobs: int = 1
) -> Iterator[CallReport]:
    """The same for the flow of a folder or file, with its functions; `jobs` processes share it.

    Raises:
        FlowError: the flow cannot be loaded or compiled.
    """
    kernel = _kernel(path)
    if jobs <= 1:
        return (_report(kernel, options, call) for call in calls)
    return _shared(str(path), calls, options, jobs)


def _shared(path: str, calls: Iterable[Call], options: Options, jobs: int) -> Iterator[CallReport]:
    # spawned, not forked: a forked process may inherit another thread's lock
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(partial(_report_on, path, options), calls, chunksize=CHUNK)


def _report_on(path: str, options: Options, call: Call) -> CallReport:
    return _report(_worker_kernel(path), options, call)


@lru_cache(maxsize=1)
def _worker_kernel(path: str) -> Kernel:
    """Each process loads the flow once: functions do not travel between processes."""
    return _kernel(path)


def _kernel(path: str | Path) -> Kernel:
    folder = Path(path) if Path(path).is_dir() else Path(path).parent
    return Kernel(load(path), load_functions(folder))


def _report(kernel: Kernel, options: Options, call: Call) -> CallReport:
    if isinstance(call, Unreadable):
        return CallReport(call.id, call.place, error=call.error)
    try:
        playback = play(kernel, call, options.start, options.state)
        return report_of(call, playback, reveal=options.reveal)
    except FlowEngineError as error:
        return CallReport(call.id, call.place, error=f"{call.place}: {error}")
