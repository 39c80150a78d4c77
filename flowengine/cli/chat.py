"""`flowengine chat`: a conversation in the terminal, and what the flow makes of each turn.

No model speaks. What one would be told is printed, and its words come from the flow's own `say` and
from `/say`. What the flow asks of models besides is scripted, or asked of them if there is a key.
"""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from flowengine.cli.answering import has_key
from flowengine.cli.assignments import arguments_of, json_or_text, state_of
from flowengine.cli.fake import load_fake
from flowengine.cli.misuse import Misuse
from flowengine.cli.output import complain
from flowengine.cli.save import save, scenario_path
from flowengine.cli.seen import calls_seen, facts_seen, outcome_seen, seen, state_seen, why_seen
from flowengine.cli.talk import Happened, Talk
from flowengine.clock import SystemClock, duration_ms
from flowengine.errors import FlowEngineError, TurnFailed, did_you_mean
from flowengine.flow.index import Index
from flowengine.flow.load import load
from flowengine.flow.uses import events_of
from flowengine.tools.names import named_by_model

with contextlib.suppress(ImportError):
    import readline as _line_editing  # noqa: F401  # pyright: ignore[reportUnusedImport]


def chat_with(
    path: Path,
    state: Sequence[str],
    phase: str | None,
    fake: Path | None = None,
    models: bool = True,
) -> int:
    """Read lines until /quit or the end of input."""
    flow = load(path)
    talk = Talk(
        path, flow, state_of(flow, state), phase, SystemClock().now(),
        fake=load_fake(fake, flow) if fake else None,
        models=models and has_key(),
    )  # fmt: skip
    with contextlib.closing(talk.answering):
        _say_who_answers(talk, fake is not None, models)
        _read(_Chat(path, talk))
    return 0


def _read(chat: _Chat) -> None:
    chat.show(chat.talk.opening)
    for line in _lines():
        if line.split()[:1] == ["/quit"]:
            break
        try:
            chat.take(line)
        except TurnFailed as error:
            complain(f"{error}\n  {error.__cause__}")
        except FlowEngineError as error:
            complain(str(error))


def _say_who_answers(talk: Talk, is_scripted: bool, models: bool) -> None:
    """Once, what no model answers, or that one does."""
    names = ", ".join(talk.answering.by_model)
    if is_scripted or not names:
        return
    if models and has_key():
        complain(f"a model answers {names}: what you say is sent to it")
        return
    cure = "set GEMINI_API_KEY, or script them with --fake FILE" if models else "--fake scripts it"
    complain(f"no model is asked for {names}, so nothing is found by them: {cure}")


def _lines() -> Iterator[str]:
    """What is typed; lines from a pipe are shown, so that the talk can be read."""
    if not sys.stdin.isatty():
        for line in sys.stdin:
            if words := line.strip():
                print(f"\n> {words}")
                yield words
        return
    with contextlib.suppress(EOFError):
        while True:
            if words := input("\n> ").strip():
                yield words


class _Chat:
    """Lines become what happens in a talk."""

    def __init__(self, path: Path, talk: Talk) -> None:
        self.path, self.talk = path, talk
        self.latest = talk.opening
        self._commands: dict[str, tuple[str, str, Callable[[str], None]]] = {
            "/why": ("[PHASE]", "what each way out waits for", self.why),
            "/state": ("[all]", "what State holds; all: the runtime's keys too", self.state),
            "/tools": ("", "what the model may call now", self.tools),
            "/facts": ("[all]", "what the last turn recorded", self.facts),
            "/say": ("WORDS", "the model speaks", self.say),
            "/interrupt": ("WORDS", "the caller cuts in; heard so far", self.interrupt),
            "/tool": ("NAME KEY=VALUE...", "the model calls a tool", self.tool),
            "/set": ("KEY=VALUE...", "write keys from outside", self.set),
            "/event": ("NAME", "offer an event", self.event),
            "/resolve": ("NAME [VALUE]", "answer a running resolver", self.resolve),
            "/confirm": ("[no REASON]", "agree to a waiting call, or decline", self.confirm),
            "/advance": ("30s", "let time pass", self.advance),
            "/save": ("FILE", "the talk as a scenario file", self.save),
            "/help": ("", "this list", self.help),
        }

    def take(self, line: str) -> None:
        name, _, rest = line.partition(" ")
        if not name.startswith("/"):
            self.show(self.talk.turn(line))
        elif name in self._commands:
            self._commands[name][2](rest.strip())
        else:
            guess = did_you_mean(name, (*self._commands, "/quit"))
            raise Misuse(f"there is no command {name!r}; /help lists them.{guess}")

    def show(self, happened: Happened) -> None:
        self.latest = happened
        for line in seen(self.talk.call, happened):
            print(line)

    def show_ended(self, happened: Happened) -> None:
        """The same, after how calls ended that had waited for it."""
        for line in calls_seen(self.talk.call, happened):
            print(line)
        self.show(happened)

    # -- looking ------------------------------------------------------------------------------

    def why(self, phase: str) -> None:
        for line in [self.talk.call.why_not(phase)] if phase else why_seen(self.talk.call):
            print(line)

    def state(self, which: str) -> None:
        if which not in ("", "all"):
            raise Misuse("/state shows what the flow speaks of, /state all every key")
        for line in state_seen(self.talk.call, every=bool(which)):
            print(line)

    def tools(self, _: str) -> None:
        print(f"  {', '.join(self.talk.call.context.tools) or 'none'}")

    def facts(self, which: str) -> None:
        if which not in ("", "all"):
            raise Misuse("/facts shows the last turn's facts, /facts all those of the whole call")
        for line in facts_seen(self.talk.call.facts if which else self.latest.facts):
            print(line)

    def help(self, _: str) -> None:
        print("  Anything else is what the caller says.")
        for name, (arguments, what, _act) in self._commands.items():
            print(f"  {f'{name} {arguments}':26} {what}")
        print(f"  {'/quit':26} leave")

    # -- acting -------------------------------------------------------------------------------

    def say(self, words: str) -> None:
        self.show(self.talk.say(_needed(words, "/say WORDS")))

    def interrupt(self, words: str) -> None:
        self.show(self.talk.interrupt(_needed(words, "/interrupt WORDS")))

    def confirm(self, rest: str) -> None:
        no, _, reason = rest.partition(" ")
        if no not in ("", "no"):
            raise Misuse("write /confirm to agree, or /confirm no REASON to decline")
        self.show_ended(self.talk.confirm((reason.strip() or False) if no else True))

    def tool(self, rest: str) -> None:
        called, *pairs = _parts(_needed(rest, "/tool NAME KEY=VALUE..."))
        tools = self.talk.call.latest.kernel.compiled.flow.tools
        name = named_by_model(called, tools)
        spec = tools.get(name)
        outcome, happened = self.talk.tool(name, arguments_of(spec.args if spec else {}, pairs))
        print(outcome_seen(outcome))
        self.show(happened)

    def set(self, rest: str) -> None:
        flow = self.talk.call.latest.kernel.compiled.flow
        for key, value in state_of(flow, _parts(_needed(rest, "/set KEY=VALUE..."))).items():
            self.show(self.talk.set(key, value))

    def event(self, name: str) -> None:
        known = events_of(Index(self.talk.call.latest.kernel.compiled.flow))
        if _needed(name, "/event NAME") not in known:
            raise Misuse(f"nothing waits for event {name!r}.{did_you_mean(name, known)}")
        self.show(self.talk.event(name))

    def resolve(self, rest: str) -> None:
        name, _, value = _needed(rest, "/resolve NAME [VALUE]").partition(" ")
        self.show_ended(self.talk.resolve(name, json_or_text(value) if value else None))

    def advance(self, span: str) -> None:
        try:
            duration_ms(span)
        except ValueError as error:
            raise Misuse(str(error)) from None
        self.show(self.talk.advance(span))

    def save(self, name: str) -> None:
        file = scenario_path(_needed(name, "/save FILE"))
        title = file.name.partition(".")[0].replace("_", " ")
        differences = save(file, self.path, self.talk.scenario(title))
        print(f"  saved {file}")
        if differences:
            complain(f"it does not pass as it is:\n{differences}")


def _needed(rest: str, usage: str) -> str:
    if not rest:
        raise Misuse(f"write {usage}")
    return rest


def _parts(rest: str) -> list[str]:
    try:
        return shlex.split(rest)
    except ValueError:
        raise Misuse("a quote is not closed") from None
