"""Each rule finds its mistake, in its place, and leaves the flow without it alone."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from flowengine.check import Diagnostic, check, check_path
from flowengine.flow.functions import Functions
from flowengine.flow.load import parse
from flowengine.flow.model import Flow, Phase, Transition
from flowengine.guards import is_true

GOOD = """\
flow: refill
state:
  agreed: {type: boolean, writers: [channel]}
  status: {type: string, enum: [open, closed], default: open}
records:
  order: {fields: {quantity: {recognize: integer}, item: {recognize: {one_of: [a, b]}}}}
tools:
  lookup: {args: {item: string}, save_as: found, respond: {}}
computed:
  many: {value: {gt: [{key: quantity}, 5]}}
global_transitions:
  - {to: bye, when: status == "closed"}
digressions:
  hours: {on: ask_hours, phases: {say_hours: {final: true}}}
phases:
  greet:
    initial: true
    transitions:
      - {to: ask, when: is_true(agreed)}
  ask:
    collect: [order]
    tools: [lookup]
    context: "{found} {quantity?some:none}"
    transitions:
      - to: ask
        when: is_true(many)
        do: [{clear: [quantity]}]
      - {to: bye, when: "captured([quantity, item])"}
  bye: {final: true}
"""


def findings(text: str) -> list[tuple[str, str, int | None, int | None]]:
    loaded = parse(text, file="f.yaml")
    return [
        (d.severity, d.code, d.line, d.column)
        for d in check(loaded.flow, functions={}, source=loaded.source)
    ]


def phases(text: str) -> str:
    return f"flow: x\nphases:\n{text}\n"


def test_a_sound_flow_has_no_findings() -> None:
    assert findings(GOOD) == []


def test_one_phase_alone_may_last_to_the_end() -> None:
    assert findings(phases("  talk: {}")) == []


TO_END = "\n  end: {final: true}"
ODD: list[tuple[str, str, list[tuple[str, str, int, int]]]] = [
    ("a phase nothing leads to",
     phases("  a: {initial: true, transitions: [{to: end}]}\n  b: {transitions: [{to: end}]}"
            + TO_END),
     [("error", "unreachable_phase", 4, 3)]),
    ("a compound nothing leads to is told once",
     phases("  a: {initial: true, transitions: [{to: end}]}\n  b: {phases: {c: {}, d: {}}}"
            + TO_END),
     [("error", "unreachable_phase", 4, 3)]),
    ("a dead end", phases("  a: {initial: true, transitions: [{to: b}]}\n  b: {}"),
     [("error", "dead_end", 4, 3)]),
    ("a dead end that only goes to itself",
     phases("  a: {initial: true, transitions: [{to: b}]}\n  b: {transitions: [{to: b, on: e}]}"),
     [("error", "dead_end", 4, 3)]),
    ("a detour that never ends",
     "flow: x\ndigressions: {d: {on: e, phases: {q: {}}}}\nphases: {a: {}}\n",
     [("error", "dead_end", 2, 35)]),
    ("no way to an end",
     phases("  a: {initial: true, transitions: [{to: b, on: x}, {to: end, on: y}]}\n"
            "  b: {transitions: [{to: c}]}\n  c: {transitions: [{to: b}]}" + TO_END),
     [("warning", "no_end", 4, 3), ("warning", "no_end", 5, 3)]),
    ("an exit before the caller spoke",
     phases("  a: {initial: true, transitions: [{to: end, immediately: true}]}" + TO_END),
     [("error", "exit_before_caller", 3, 59)]),
    ("an exit that always holds",
     phases("  a: {initial: true, transitions: [{to: end, when: always}]}" + TO_END),
     [("error", "exit_before_caller", 3, 52)]),
    ("a global edge without condition",
     "flow: x\nglobal_transitions: [{to: b}]\nphases: {a: {initial: true}, b: {final: true}}\n",
     [("error", "unguarded_global", 2, 22)]),
    ("a global edge to a guarded phase",
     "flow: x\nglobal_transitions: [{to: b, on: e}]\n"
     "phases: {a: {initial: true}, b: {final: true, entry: in_phase(a)}}\n",
     [("error", "global_to_guarded", 2, 27)]),
    ("history of what is active",
     phases("  a:\n    phases:\n      b: {transitions: [{to: a, on: e, history: deep}]}\n"
            "    transitions: [{to: end, on: f}]\n    initial: true" + TO_END),
     [("error", "history_from_inside", 5, 49)]),
    ("an edge into another region",
     phases("  a:\n    initial: true\n    transitions: [{to: end, on: e}]\n    regions:\n"
            "      l: {phases: {p: {transitions: [{to: q, on: f}]}}}\n      r: {phases: {q: {}}}"
            + TO_END),
     [("error", "across_regions", 7, 43)]),
    ("an edge from a monitor into the conversation",
     "flow: x\nmonitors: {m: {phases: {w: {transitions: [{to: a, on: f}]}}}}\nphases: {a: {}}\n",
     [("error", "across_regions", 2, 48)]),
    ("regions that leave to different places",
     phases("  a:\n    initial: true\n    regions:\n"
            "      l: {phases: {p: {transitions: [{to: end, on: f}]}}}\n"
            "      r: {phases: {q: {transitions: [{to: fin, on: f}]}}}"
            + TO_END + "\n  fin: {final: true}"),
     [("warning", "diverging_regions", 7, 43)]),
    ("an edge behind one without condition",
     phases("  a: {initial: true, transitions: [{to: end}, {to: fin}]}"
            + TO_END + "\n  fin: {final: true}"),
     [("error", "shadowed_transition", 3, 52)]),
    ("an edge behind one that waits for the caller",
     phases("  a: {initial: true, transitions: [{to: end}, {to: fin, when: in_phase(a)}]}" + TO_END
            + "\n  fin: {final: true}"),
     [("warning", "shadowed_transition", 3, 52)]),
    ("an edge behind a weaker condition",
     phases("  a:\n    initial: true\n    transitions:\n      - {to: end, when: in_phase(a)}\n"
            "      - to: fin\n        when: in_phase(a) and caller_spoke"
            + TO_END + "\n  fin: {final: true}"),
     [("error", "shadowed_transition", 7, 13)]),
    ("a self transition that never stops",
     phases("  a:\n    initial: true\n    transitions:\n      - {to: a, when: turns_in_phase > 2}\n"
            "      - {to: end, on: e}" + TO_END),
     [("error", "endless_self", 6, 14)]),
    ("a circle that nothing stops",
     phases("  a: {initial: true, transitions: [{to: b}]}\n"
            "  b: {transitions: [{to: c, when: always}]}\n"
            "  c: {transitions: [{to: b, immediately: true}, {to: end, on: e}]}" + TO_END),
     [("error", "endless_cycle", 4, 3)]),
    ("an unknown key in a guard",
     phases("  a: {initial: true, transitions: [{to: end, when: is_true(quantty)}]}" + TO_END),
     [("error", "unknown_state_key", 3, 60)]),
    ("an unknown key in a text", phases("  a: {say: 'Hello {nme}'}"),
     [("error", "unknown_state_key", 3, 20)]),
    ("a declared key that nothing writes",
     "flow: x\nstate: {name: string}\nphases: {a: {needs: [name]}}\n",
     [("warning", "unwritten_key", 3, 22)]),
    ("a record that nothing uses",
     "flow: x\nrecords: {r: {fields: {q: {recognize: integer}}}}\nphases: {a: {}}\n",
     [("warning", "unused_record", 2, 11)]),
    ("a tool that no phase allows",
     "flow: x\ntools: {t: {}}\nphases: {a: {tools: []}}\n", [("warning", "unused_tool", 2, 9)]),
    ("an event that nothing waits for",
     phases("  a: {initial: true, on_enter: [{raise: loud}], transitions: [{to: end, on: lout}]}"
            + TO_END), [("warning", "unheard_event", 3, 41)]),
    ("a value that the key never has",
     "flow: x\nstate: {s: {type: string, enum: [open], default: open}}\n"
     "phases: {a: {done: s == \"opn\"}}\n", [("warning", "not_in_enum", 3, 26)]),
    ("a function that is not registered", phases("  a: {say: {run: hello}}"),
     [("error", "unknown_function", 3, 18)]),
    ("a resolver that does not exist", phases("  a: {on_enter: [{resolve: account}]}"),
     [("error", "unknown_resolver", 3, 28)]),
]  # fmt: skip


@pytest.mark.parametrize(("what", "text", "expected"), ODD, ids=[row[0] for row in ODD])
def test_a_mistake_is_found_in_its_place(
    what: str, text: str, expected: list[tuple[str, str, int, int]]
) -> None:
    assert findings(text) == expected


SOUND = {
    "an event breaks a circle": "  a: {initial: true, transitions: [{to: b}]}\n"
    "  b: {transitions: [{to: a, on: e}]}",
    "waiting for the caller breaks a circle": "  a: {initial: true, transitions: [{to: b}]}\n"
    "  b: {transitions: [{to: a}]}",
    "a region may rest while another leaves": "  a:\n    initial: true\n    regions:\n"
    "      l: {phases: {p: {transitions: [{to: end, on: f}]}}}\n      r: {phases: {q: {}}}"
    + TO_END,
    "time passes before the later edge": "  a:\n    initial: true\n    transitions:\n"
    "      - {to: end, when: in_phase(a), after: 30s}\n      - {to: fin, when: in_phase(a)}"
    + TO_END
    + "\n  fin: {final: true}",
    "an entry guard lets the later edge through": "  a:\n    initial: true\n    transitions:\n"
    "      - {to: b, when: in_phase(a)}\n      - {to: end, when: in_phase(a)}\n"
    "  b: {entry: caller_spoke, transitions: [{to: end}]}" + TO_END,
    "an external self transition starts its wait anew": "  a:\n    initial: true\n"
    "    transitions:\n      - {to: a, external: true}",
    "a run function may change what a guard reads": "  a:\n    initial: true\n    transitions:\n"
    "      - {to: a, when: is_set(session:x), do: [{run: f}]}\n      - {to: end, on: e}" + TO_END,
}


@pytest.mark.parametrize("text", SOUND.values(), ids=SOUND)
def test_what_only_looks_like_a_mistake_is_left_alone(text: str) -> None:
    loaded = parse(phases(text), file="f.yaml")
    found = check(loaded.flow, functions=None, source=loaded.source)
    assert [d.code for d in found if d.code not in ("dead_end",)] == []


def test_a_circle_is_printed_with_the_condition_that_keeps_it_going() -> None:
    text = (
        "flow: x\nstate: {k: {type: boolean, default: true}}\nphases:\n"
        "  a: {initial: true, transitions: [{to: b, when: is_true(k)}]}\n"
        "  b: {transitions: [{to: a, when: is_true(k)}]}\n"
    )
    loaded = parse(text, file="f.yaml")
    [diagnostic] = check(loaded.flow, source=loaded.source)
    assert diagnostic.code == "endless_cycle"
    assert diagnostic.message.endswith("while is_true(k): a -> b -> a")
    assert check(parse(text.replace("to: a,", "do: [{clear: [k]}], to: a,"), file="f").flow) == []


def test_a_flow_built_in_python_is_told_by_its_path() -> None:
    flow = Flow(
        flow="x",
        phases={"a": Phase(transitions=(Transition(to="b", when=is_true("k")),))},
    )
    [diagnostic] = [d for d in check(flow) if d.code == "unknown_phase"]
    assert (diagnostic.path, diagnostic.line) == ("/phases/a/transitions/0/to", None)
    assert "phases.a.transitions[0].to" in str(diagnostic)


def test_a_registry_tells_which_functions_there_are() -> None:
    functions = Functions()
    functions.text(name="hello")(lambda state: "hi")
    loaded = parse(phases("  a: {say: {run: helo}}"), file="f.yaml")
    [diagnostic] = check(loaded.flow, functions=functions, source=loaded.source)
    assert diagnostic.suggestion == "did you mean 'hello'?"


def test_a_path_gives_load_errors_and_never_runs_its_functions(tmp_path: Path) -> None:
    (tmp_path / "flow.yaml").write_text("flow: x\nphases: {a: {sya: hi}}\n")
    assert [d.code for d in check_path(tmp_path)] == ["unknown_key"]
    (tmp_path / "flow.yaml").write_text("flow: x\nphases: {a: {say: {run: hello}}}\n")
    (tmp_path / "functions.py").write_text(
        "raise SystemExit\nfunctions = Functions()\n@functions.text\ndef hello(s): ...\n"
    )
    assert check_path(tmp_path) == []
    assert [d.code for d in check_path(tmp_path / "nope")] == ["no_file"]


def test_errors_come_first_then_the_order_of_the_file() -> None:
    text = phases("  a: {needs: [kk], transitions: [{to: b}], initial: true}\n  b: {}")
    loaded = parse("state: {kk: string}\n" + text, file="f.yaml")
    found: list[Diagnostic] = check(loaded.flow, source=loaded.source)
    assert [d.code for d in found] == ["dead_end", "unwritten_key"]


def big(count: int) -> Flow:
    names = [f"p{n}" for n in range(count)]
    return Flow(
        flow="big",
        phases={
            name: Phase(
                initial=n == 0,
                instruction=f"{{{name}}}",
                needs=tuple(f"k{n + k}" for k in range(5)),
                transitions=tuple(
                    Transition(to=names[(n * 7 + k) % count], when=is_true(f"k{n}"))
                    for k in range(1, 6)
                ),
            )
            for n, name in enumerate(names)
        },
    )


def test_two_hundred_phases_are_checked_at_once() -> None:
    flow = big(200)
    start = time.process_time()
    check(flow)
    assert time.process_time() - start < 5  # a runaway, not a benchmark
