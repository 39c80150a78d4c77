"""The commands: their arguments and options. What they do is loaded when they run."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import typer

from flowengine.cli.misuse import Misuse
from flowengine.errors import FlowEngineError

app = typer.Typer(
    help="Model phone and chat conversations as statecharts.",
    epilog="Results go to stdout, messages to stderr. Exit codes: 0 all is well, "
    "1 something was found or failed, 2 wrong usage.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

FlowPath: TypeAlias = Annotated[Path, typer.Argument(metavar="FLOW", help="Its folder or file.")]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]
StartState: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--state", metavar="KEY=VALUE", help="What the call starts with; repeatable."),
]


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line; a user's mistake is a message, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that knows only ASCII
    try:
        app(args, prog_name="flowengine")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        return 130
    except FlowEngineError as error:
        typer.echo(str(error), err=True)
        return 2 if isinstance(error, Misuse) else 1
    except OSError as error:
        if error.strerror is None:
            raise
        place = f"{error.filename}: " if error.filename else ""
        typer.echo(f"{place}{error.strerror.lower()}", err=True)
        return 1
    return 0


def _run(module: str, name: str, *args: Any, **options: Any) -> None:
    """Do a command's work; loaded late, so that `--help` does not wait for it."""
    work: Callable[..., int] = getattr(import_module(f"flowengine.cli.{module}"), name)
    raise typer.Exit(work(*args, **options))


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"flowengine {import_module('flowengine').__version__}")
        raise typer.Exit


@app.callback()
def flowengine(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")
    ] = False,
) -> None:
    """Model phone and chat conversations as statecharts."""


@app.command()
def new(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="The folder to make.")],
    template: Annotated[
        Literal["blank", "booking"], typer.Option(help="What to start from.")
    ] = "blank",
) -> None:
    """Make a folder with a flow that checks clean, and a scenario that passes."""
    _run("new", "make_flow", name, template)


@app.command()
def check(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Flows, or folders of.")],
    json: AsJson = False,
    format: Annotated[
        Literal["text", "json", "github"], typer.Option(help="github: annotations for its CI.")
    ] = "text",
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as findings.")] = False,
    fix: Annotated[bool, typer.Option("--fix", help="Apply the cures that are certain.")] = False,
) -> None:
    """Say everything that is wrong or odd with a flow, without running it."""
    _run("check", "check_paths", paths, "json" if json else format, strict=strict, fix=fix)


@app.command()
def render(
    flow: FlowPath,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A file; its suffix is the format.")
    ] = None,
    format: Annotated[
        Literal["mermaid", "dot", "svg", "png"] | None,
        typer.Option(help="If there is no suffix; mermaid without both."),
    ] = None,
    direction: Annotated[Literal["TB", "LR"], typer.Option(help="Down, or to the right.")] = "TB",
    highlight: Annotated[
        list[str] | None, typer.Option(metavar="PHASE", help="Draw it as active; repeatable.")
    ] = None,
) -> None:
    """Draw a flow: as Mermaid or DOT text, as SVG or PNG."""
    _run("render", "render_flow", flow, output, format, direction, tuple(highlight or ()))


@app.command()
def chat(
    flow: FlowPath,
    state: StartState = None,
    phase: Annotated[str | None, typer.Option(help="Start in this phase.")] = None,
    fake: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Answers in place of models and services.")
    ] = None,
    models: Annotated[
        bool, typer.Option(help="Let models extract and decide, if there is a key.")
    ] = True,
) -> None:
    """Talk to a flow; /help lists what else can be done."""
    _run("chat", "chat_with", flow, state or [], phase, fake, models)


@app.command()
def replay(
    flow: FlowPath,
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="JSONL: dialogues, or recorded inputs.")
    ],
    json: AsJson = False,
    only: Annotated[str, typer.Option(help="Only calls whose id or services contain this.")] = "",
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Processes.")] = 1,
    state: StartState = None,
    reveal: Annotated[bool, typer.Option("--reveal", help="Do not mask pii values.")] = False,
) -> None:
    """Run recorded calls through a flow, without a model; compare with recorded facts."""
    _run(
        "replay", "replay_files", flow, files, json, only, jobs=jobs, state=state, reveal=reveal
    )  # fmt: skip


@app.command()
def probe(
    flow: FlowPath,
    model: Annotated[
        list[str],
        typer.Option(metavar="NAME[=BUDGET]", help="With a thinking budget; repeatable."),
    ],
    runs: Annotated[int, typer.Option(min=1, help="How often each fixture is asked.")] = 20,
    concurrency: Annotated[int, typer.Option(min=1, help="Turns at a time.")] = 6,
    json: AsJson = False,
    fixtures: Annotated[
        Path | None, typer.Option(help="Instead of extraction.yaml beside the flow.")
    ] = None,
    service: Annotated[
        Literal["gemini", "openai"], typer.Option(help="The protocol that is spoken.")
    ] = "gemini",
    base_url: Annotated[str | None, typer.Option(help="Another address of the service.")] = None,
) -> None:
    """Ask real models a flow's extraction fixtures: how fast they answer, and how right."""
    _run(
        "probe", "probe_models", flow, model, (service, base_url), json, runs=runs,
        concurrency=concurrency, fixtures=fixtures,
    )  # fmt: skip


@app.command("test", context_settings={"ignore_unknown_options": True})
def scenarios(
    args: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PATH]... [PYTEST OPTIONS]", help="Flows or scenario files."),
    ] = None,
) -> None:
    """Run the scenarios of flows with pytest; its own options follow."""
    _run("test", "run_scenarios", args or [])


@app.command()
def recognize(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="Such as money, time, yes_no.")],
    text: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", help="One utterance; else lines of stdin.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    ref: Annotated[str | None, typer.Option(help="Reference time: 2026-03-04T10:30.")] = None,
    tz: Annotated[str | None, typer.Option(help="Time zone: America/New_York.")] = None,
    locale: Annotated[str, typer.Option(help="Language and region.")] = "en-US",
    asked: Annotated[str | None, typer.Option(help="The kind that was just asked for.")] = None,
    prefer: Annotated[
        Literal["future", "past"] | None, typer.Option(help="Which of two readings of a date.")
    ] = None,
    options: Annotated[
        list[str] | None,
        typer.Option(metavar="[NAME=]VALUE", help="The kind's own, such as max=20 or pizza,salad."),
    ] = None,
) -> None:
    """Read a value from words, as a record's field does."""
    context = {"ref": ref, "tz": tz, "locale": locale, "asked": asked, "prefer": prefer}
    _run("recognize", "recognize_words", kind, text, json, options or [], context)


@app.command()
def schema(
    out: Annotated[Path | None, typer.Option(help="A file instead of stdout.")] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Every key with its type, default and a sentence.")
    ] = False,
) -> None:
    """Print the JSON Schema of flow files, for editors; or their reference, for people."""
    _run("schema", "print_schema", out, markdown)
