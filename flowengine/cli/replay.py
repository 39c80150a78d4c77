"""`flowengine replay`: recorded calls through a flow, and what became of each."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import track
from rich.table import Table

from flowengine.batch import CallReport, Options, read_calls, replay_folder, summary_of
from flowengine.clock import SystemClock


def replay_files(flow: Path, files: list[Path], as_json: bool, only: str) -> int:
    """Replay every call; 1 if one could not be replayed or an input failed."""
    calls = [
        call
        for file in files
        for call in read_calls(file)
        if only in f"{call.id} {getattr(call, 'labels', '')}"
    ]
    progress = Console(stderr=True)
    shown = track(calls, "replaying", console=progress, disable=not progress.is_terminal)
    reports = list(replay_folder(flow, shown, Options(start=SystemClock().now())))
    if as_json:
        whole = {
            "calls": [asdict(report) for report in reports],
            "summary": asdict(summary_of(reports)),
        }
        typer.echo(json.dumps(whole, ensure_ascii=False, default=str))
    else:
        print_reports(reports)
    return int(any(report.error or report.failed for report in reports))


def print_reports(reports: list[CallReport]) -> None:
    """Each call's path, values with their words and unmet needs; then the totals."""
    console = Console(highlight=False)
    for report in reports:
        path = " > ".join(phase for phase, _ in report.phases)
        console.print(f"[bold]{escape(report.id)}[/bold]  {escape(report.error or path)}")
        for key, found in report.captured.items():
            words = escape(f"  {key} = {found.value!r}  “{found.words}” (turn {found.turn})")
            console.print(words)
        if report.unmet:
            console.print(escape(f"  still needed: {', '.join(report.unmet)}"))
    table = Table("what", "count")
    for name, value in asdict(summary_of(reports)).items():
        counts = value if isinstance(value, dict) else {"": value}  # pyright: ignore[reportUnknownVariableType]
        for label, count in counts.items():  # pyright: ignore[reportUnknownVariableType]
            table.add_row(f"{name} {label}".replace("_", " ").strip(), str(count))  # pyright: ignore[reportUnknownArgumentType]
    console.print(table)
