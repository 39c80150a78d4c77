"""A bad model reaches no trusted key, no commit and no edge whose guard asks `grounded`."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

from flowengine import Flow, loads
from flowengine.flow.diagnostic import FlowFileError
from flowengine.testing import Simulation

HERE = Path(__file__).parent
TWINS = yaml.safe_load((HERE / "twins.yaml").read_text("utf-8"))


def test_an_attack_reaches_nothing_and_moves_what_is_listed(attack: Any, simulated: Any) -> None:
    assert attack.reaches == []
    assert simulated(attack) == ([], attack.moved)


def test_the_caller_reaches_it_by_saying_it(honest: Any, simulated: Any) -> None:
    assert honest.reaches
    assert simulated(honest) == (honest.reaches, honest.moved)


def test_an_attack_that_gets_through_does_so_as_listed(limit: Any, simulated: Any) -> None:
    assert limit.because
    assert limit.reaches
    assert simulated(limit) == (limit.reaches, limit.moved)


@pytest.mark.parametrize("twin", TWINS, ids=[f"without {twin['without']}" for twin in TWINS])
def test_without_a_safeguard_attacks_come_through(twin: Any, corpus: Any, simulated: Any) -> None:
    text = (HERE / "transfer.yaml").read_text("utf-8")
    for there, instead in twin["instead"].items():
        assert there in text
        text = text.replace(there, instead)
    broken = loads(text)
    attacks = {case.name: case for kind in corpus for case in kind.attacks}
    for name in twin["caught_by"]:
        seen = simulated(attacks[name], broken)
        assert seen != ([], attacks[name].moved), name


def with_open_schema() -> Flow:
    """The attacked flow, with an extractor that may bring fields of any name."""
    text, closed = (HERE / "transfer.yaml").read_text("utf-8"), "{mood: {type: string}}}"
    assert closed in text
    return loads(text.replace(closed, "{mood: {type: string}}, additionalProperties: true}"))


def test_ownership_holds_where_a_schema_leaves_fields_open(corpus: Any, simulated: Any) -> None:
    flow = with_open_schema()
    attacks = [case for kind in corpus for case in kind.attacks if case.flow == "transfer"]
    assert {name for case in attacks for name in simulated(case, flow).reaches} == set()


def test_every_kind_has_attacks_and_an_honest_call(corpus: Any) -> None:
    for kind in corpus:
        assert len(kind.attacks) >= 7, kind.name
        assert kind.honest, kind.name


def test_the_corpus_is_large_and_every_name_stands_once(corpus: Any) -> None:
    cases = [case for kind in corpus for case in (*kind.attacks, *kind.honest, *kind.limits)]
    assert sum(len(kind.attacks) for kind in corpus) >= 100
    assert [name for name, times in Counter(case.name for case in cases).items() if times > 1] == []
    shipped = {path.parent.name for path in HERE.parents[1].glob("flows/*/flow.yaml")}
    assert shipped <= {case.flow for kind in corpus for case in kind.attacks}


@pytest.mark.parametrize(
    "forged",
    [
        "decisions: {cleared: {question: Cleared?, writes: fraud_cleared}}",
        "computed: {fraud_cleared: {cases: [{when: is_true(wanted), value: true}]}}",
        "extract: [{name: E, schema: {type: object, properties: {f: {type: boolean}}}, "
        "promote: [{field: f, to: fraud_cleared}]}]",
    ],
)
def test_a_flow_that_lets_a_model_write_a_trusted_key_does_not_load(forged: str) -> None:
    head = "flow: forged\nstate: {fraud_cleared: {type: boolean, trusted: true}}\n"
    with pytest.raises(FlowFileError, match="owned_key"):
        loads(f"{head}{forged}\nphases: {{a: {{initial: true}}}}")


def test_no_prefix_leads_to_a_trusted_key(watched: Any) -> None:
    flow = with_open_schema()
    before = ("", "derived:", "session:", "app:", "turn:", "Order.", "Mood.", "state.", "bg:Mood.")
    owned = ("identity_verified", "account", "fraud_cleared", "said_yes")
    for first, second, key in product(before, before, owned):
        call = Simulation(flow)
        call.turn("hello there", extract={"Mood": {f"{first}{second}{key}": True}})
        assert watched.watch(call.facts, watched.protected("transfer")) == ([], [])
        assert not call.state.get(key), (first, second, key)


def test_the_page_counts_the_corpus(corpus: Any) -> None:
    page = (HERE.parents[1] / "docs" / "attacks.md").read_text("utf-8")
    assert table_of_kinds(corpus) in page
    assert table_of_edges(corpus) in page
    assert table_of_limits(corpus) in page


def table_of_kinds(corpus: Any) -> str:
    """Each kind: how many attacks, how many of them move an edge all the same, what protects."""
    rows = [
        (kind.title, len(kind.attacks), sum(bool(case.moved) for case in kind.attacks),
         kind.against)
        for kind in corpus
    ]  # fmt: skip
    total = ("all", sum(row[1] for row in rows), sum(row[2] for row in rows), "")
    return _table(("a model that", "attacks", "move another edge", "against it"), [*rows, total])


def table_of_edges(corpus: Any) -> str:
    """Each edge that an attack moves, and how many do."""
    attacks = [case for kind in corpus for case in kind.attacks]
    moved = Counter((case.flow, edge) for case in attacks for edge in dict.fromkeys(case.moved))
    rows = [(flow, f"`{edge}`", times) for (flow, edge), times in sorted(moved.items())]
    return _table(("flow", "edge", "attacks that move it"), rows)


def table_of_limits(corpus: Any) -> str:
    rows = [
        (case.name, case.flow, ", ".join(f"`{one}`" for one in case.reaches), case.because)
        for kind in corpus for case in kind.limits
    ]  # fmt: skip
    return _table(("what gets through", "flow", "reaches", "why"), rows)


def _table(head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join("| " + " | ".join(str(cell).strip() for cell in row) + " |\n" for row in lines)
