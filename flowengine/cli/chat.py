"""`flowengine chat`: a conversation in the terminal, with what the flow makes of each turn."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from flowengine.errors import FlowEngineError
from flowengine.flow.functions import load_functions
from flowengine.flow.load import load
from flowengine.testing import Simulation


def chat_with(path: Path) -> int:
    """Read lines until /quit or the end of input."""
    folder = path if path.is_dir() else path.parent
    call = Simulation(load(path), functions=load_functions(folder))
    typer.echo(f"[{call.phase}] {call.context.instruction}")
    for line in sys.stdin:
        words = line.strip()
        if words == "/quit":
            break
        if words:
            _answer(call, words)
    return 0


def _answer(call: Simulation, words: str) -> None:
    try:
        if words == "/state":
            typer.echo("\n".join(f"{key} = {call.state[key]!r}" for key in call.state))
        elif words.startswith("/why"):
            phase = words.removeprefix("/why").strip()
            typer.echo(str(call.explain().why_not(phase) if phase else call.explain()))
        else:
            _turn(call, words)
    except FlowEngineError as error:
        typer.echo(str(error), err=True)


def _turn(call: Simulation, words: str) -> None:
    turn = call.turn(words)
    for said in turn.said:
        typer.echo(f"says: {said}")
    context = turn.context
    typer.echo(f"[{turn.phase}] {context.instruction}")
    if context.known:
        typer.echo("  known: " + ", ".join(f"{key} = {v}" for key, v in context.known.items()))
    if context.unmet:
        typer.echo(f"  still needed: {', '.join(context.unmet)}")
    if context.tools:
        typer.echo(f"  tools: {', '.join(context.tools)}")
