"""`flowengine replay`: recorded calls through a flow, and what became of each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

from flowengine.batch import (
    Call,
    CallReport,
    Options,
    Summary,
    read_calls,
    replay_folder,
    summary_of,
)
from flowengine.cli.assignments import state_of
from flowengine.clock import SystemClock
from flowengine.facts import canonical_json
from flowengine.flow.load import load


def replay_files(
    flow: Path,
    files: Sequence[Path],
    as_json: bool = False,
    only: str = "",
    *,
    jobs: int = 1,
    state: Sequence[str] | None = None,
    reveal: bool = False,
) -> int:
    """Replay and print; 1 if a call could not be replayed, failed or went another way."""
    start = state_of(load(flow), state) if state else {}
    options = Options(SystemClock().now(), start, reveal)
    calls = [call for file in files for call in read_calls(file) if _is_chosen(call, only)]
    messages = Console(stderr=True, soft_wrap=True, highlight=False)
    reports = list(_shown(replay_folder(flow, calls, options, jobs=jobs), len(calls), messages))
    for report in reports:
        if report.error:
            messages.print(Text(report.error))
    summary = summary_of(reports)
    if as_json:
        whole = {"calls": [r.to_json() for r in reports], "summary": summary.to_json()}
        print(json.dumps(whole, ensure_ascii=False))
    else:
        print_reports(reports, summary)
    return int(bool(summary.errors or summary.with_failures or summary.different))


def _is_chosen(call: Call, only: str) -> bool:
    return any(only in name for name in (call.id, *call.labels))


def _shown(reports: Iterable[CallReport], total: int, console: Console) -> Iterator[CallReport]:
    """Progress for those who watch; nothing in a pipe."""
    hidden = not console.is_terminal
    yield from track(
        reports, "replaying", total=total, console=console, transient=True, disable=hidden
    )


def print_reports(reports: Sequence[CallReport], summary: Summary) -> None:
    """Each call's path, its values with their words, and unmet needs; then all calls together."""
    console = Console(soft_wrap=True, highlight=False)
    for report in reports:
        if not report.error:
            console.print(Text(report.id, style="bold"))
            for line in _lines(report):
                console.print(Text(f"  {line}"))
    print_summary(summary)


def print_summary(summary: Summary) -> None:
    """The table of totals."""
    Console(soft_wrap=True, highlight=False).print(_table(summary))


def _lines(report: CallReport) -> Iterator[str]:
    yield " > ".join(f"{phase} ({turn})" if turn else phase for phase, turn in report.phases)
    for key, found in report.captured.items():
        words = f"  “{found.words}”" if found.words else ""
        yield f"{key} = {_plain(found.value)}{words}  turn {found.turn}"
    if report.unmet:
        yield f"still needed: {', '.join(report.unmet)}"
    for failed in report.failed:
        yield f"input {failed.input} failed: {failed.code} at {failed.place}"
    if report.difference is not None:
        yield f"differs from the recording at fact {report.difference.id}"
        yield f"  recorded: {canonical_json(report.difference.recorded)}"
        yield f"  replayed: {canonical_json(report.difference.replayed)}"


def _plain(value: object) -> str:
    return value if isinstance(value, str) else canonical_json(value)


def _table(summary: Summary) -> Table:
    table = Table("", "count", "of calls", box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    table.add_row("calls", str(summary.calls))
    table.add_row("turns", str(summary.turns))
    counted = {
        "ended": summary.ended,
        "with unmet needs": summary.with_unmet,
        **{f"reached {phase}": count for phase, count in summary.phases.items()},
        **{f"captured {key}": count for key, count in summary.captured.items()},
    }
    troubles = {
        "with failed inputs": summary.with_failures,
        "unlike the recording": summary.different,
        "not replayed": summary.errors,
    }
    counted |= {name: count for name, count in troubles.items() if count}
    for name, count in counted.items():
        table.add_row(Text(name), str(count), f"{count / max(summary.calls, 1):.0%}")
    return table
