"""The commands and what they share: results on stdout, messages on stderr, exit 0, 1 or 2."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from flowengine.errors import FlowEngineError

app = typer.Typer(
    help="Model phone and chat conversations as statecharts.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

FlowPath = Annotated[Path, typer.Argument(help="A flow's folder or file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def main() -> None:
    """Run the command line; a user's mistake is a message, never a traceback."""
    try:
        app()
    except FlowEngineError as error:
        typer.echo(str(error), err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


def command(module: str, name: str) -> Callable[..., Any]:
    """A command's work; loaded late, so that `--help` does not wait for it."""
    return getattr(import_module(f"flowengine.cli.{module}"), name)


@app.command()
def replay(
    flow: FlowPath,
    files: Annotated[list[Path], typer.Argument(help="JSONL files of recorded calls.")],
    json: AsJson = False,
    only: Annotated[str, typer.Option(help="Only rows whose id or services contain this.")] = "",
) -> None:
    """Run recorded calls through a flow, without a model."""
    raise typer.Exit(command("replay", "replay_files")(flow, files, json, only))


@app.command()
def check(paths: list[Path], json: AsJson = False) -> None:
    """Say everything that is wrong with a flow without running it."""
    raise typer.Exit(command("check", "check_paths")(paths, json))


@app.command()
def render(
    flow: FlowPath,
    output: Annotated[Path | None, typer.Option("-o", help="File; its suffix is a format.")] = None,
    format: Annotated[str, typer.Option(help="mermaid, dot, svg or png.")] = "",
    direction: Annotated[str, typer.Option(help="TB or LR.")] = "TB",
) -> None:
    """Draw a flow."""
    raise typer.Exit(command("render", "render_flow")(flow, output, format, direction))


@app.command()
def schema(
    out: Annotated[Path | None, typer.Option(help="A file instead of stdout.")] = None,
) -> None:
    """Print the JSON Schema of flow files."""
    raise typer.Exit(command("schema", "print_schema")(out))


@app.command()
def chat(flow: FlowPath) -> None:
    """Talk to a flow in the terminal; /why, /state and /quit are commands."""
    raise typer.Exit(command("chat", "chat_with")(flow))
