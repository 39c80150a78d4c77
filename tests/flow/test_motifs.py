"""The fragments that flowengine brings; what they do in a call stands in motifs/*/scenarios."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flowengine.check import check, check_path
from flowengine.flow.fragment import Fragment
from flowengine.flow.library import MOTIFS, motif_names
from flowengine.flow.load import load, loads, parse, read_fragments
from flowengine.flow.model import Flow

FLOWS = Path(__file__).parent / "motifs"

USES = {
    "collect": "{use: collect, with: {fields: {FIELD: {recognize: date}}}, exits: {known: end}}",
    "confirm_then_commit": (
        "{use: confirm_then_commit, with: {what: [when], read_back: '{when}', tool: TOOL}, "
        "exits: {done: end}}"
    ),
    "identity_verification": (
        "{use: identity_verification, with: {keys: [when], tool: TOOL}, "
        "exits: {verified: end, failed: end}}"
    ),
    "disclosure": "{use: disclosure, with: {text: Hear hear.}, exits: {acknowledged: end}}",
    "handoff": "{use: handoff, with: {tool: TOOL, stuck: null}, exits: {done: end}}",
    "faq": "{use: faq, with: {words: are you open, answer: We are.}}",
    "safety_handoff": "{use: safety_handoff, with: {when: FLAG, tool: TOOL}}",
}
DETOURS = ("faq", "safety_handoff")


def text_of(motif: str, *names: str) -> str:
    """A flow that uses a motif under each of these names, and once gets to each use."""
    place = "digressions" if motif in DETOURS else "more"
    uses = {
        n: USES[motif]
        .replace("FIELD", f"{n}_day")
        .replace("TOOL", f"{n}_it")
        .replace("FLAG", f"\"when == '{n}'\"")
        for n in names
    }
    tools = "".join(f"  {n}_it: {{args: {{when: string}}, respond: 1}}\n" for n in names)
    phases = "".join(f"  {n}: {use}\n" for n, use in uses.items())
    ways = "".join(f"      - {{to: {n}, on: go_{n}}}\n" for n in names if place == "more")
    head = f"flow: x\nstate: {{when: {{type: string, default: now}}}}\ntools:\n{tools}"
    own = f"phases:\n  start:\n    initial: true\n    tools: []\n    transitions:\n{ways}"
    own += "      - {to: end, on: bye}\n  end: {final: true}\n"
    return head + (f"digressions:\n{phases}{own}" if place == "digressions" else own + phases)


def fragment_of(motif: str) -> Fragment:
    source = read_fragments(MOTIFS / f"{motif}.yaml")
    assert source.root is not None
    return Fragment.model_validate(source.root.plain()["fragments"][motif])


def test_every_motif_is_listed_and_used_here() -> None:
    assert motif_names() == sorted(USES)


@pytest.mark.parametrize("motif", sorted(USES))
def test_a_motif_used_twice_passes_the_check(motif: str) -> None:
    loaded = parse(text_of(motif, "one", "two"), file="f.yaml")
    found = check(loaded.flow, source=loaded.source)
    assert [str(d) for d in found if d.code != "unused_tool"] == []


@pytest.mark.parametrize("motif", sorted(USES))
def test_two_uses_of_a_motif_share_no_name(motif: str) -> None:
    def names(flow: Flow) -> set[str]:
        sections = (flow.state, flow.records, flow.computed, flow.digressions)
        places = {name for name, _, _ in flow.walk()} | {e.name for e in flow.extract}
        return places.union(*sections) - {"when", "start", "end"}

    one, two = (names(loads(text_of(motif, name))) for name in ("one", "two"))
    both = names(loads(text_of(motif, "one", "two")))
    assert not one & two
    assert both == one | two


@pytest.mark.parametrize("motif", sorted(USES))
def test_all_of_a_motif_is_described(motif: str) -> None:
    fragment = fragment_of(motif)
    assert fragment.description
    assert [n for n, spec in fragment.parameters.items() if not spec.description] == []
    assert [n for n, exit in fragment.exits.items() if not exit.description] == []


@pytest.mark.parametrize("motif", sorted(USES))
def test_the_page_lists_the_parameters_and_exits_of_a_motif(motif: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "fragments.md").read_text("utf-8")
    section = page.split(f"\n## {motif}\n")[1].split("\n## ")[0]
    fragment = fragment_of(motif)
    parameters = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*) \| .+ \|$", section, re.MULTILINE)
    assert [row[:2] for row in parameters] == [(n, s.type) for n, s in fragment.parameters.items()]
    given = [row[0] for row in parameters if not row[2].strip()]
    assert given == [n for n, spec in fragment.parameters.items() if spec.required]
    exits = re.findall(r"^\| `(\w+)` \| [^|]+ \|$", section, re.MULTILINE)
    assert exits == list(fragment.exits)


@pytest.mark.parametrize("folder", sorted(p.name for p in FLOWS.iterdir() if p.is_dir()))
def test_the_flows_made_of_motifs_have_nothing_wrong(folder: str) -> None:
    assert [str(d) for d in check_path(FLOWS / folder)] == []


def test_a_booking_flow_takes_sixty_lines() -> None:
    text = (FLOWS / "booking" / "flow.yaml").read_text("utf-8")
    assert len(text.splitlines()) <= 60
    flow = load(FLOWS / "booking")
    assert flow.resolvers.keys() == {"availability"}
    book = flow.tools["book_table"]
    assert book.commit
    assert str(book.when) == (
        "is_true(confirm.confirmed) and args.people == people and args.date == date "
        "and args.time == time"
    )
    assert flow.state["confirm.confirmed"].depends_on == ("people", "date", "time")


@pytest.mark.parametrize(
    ("words", "asks"),
    [
        ("can I speak to a real person", True), ("let me talk with your agent", True),
        ("I want to talk to a live human agent", True), ("speaking with someone would help", True),
        ("I spoke to my wife about it", False), ("a table for one person", False),
        ("my agent booked it", False),
    ],
)  # fmt: skip
def test_handoff_knows_who_asks_for_a_person(words: str, asks: bool) -> None:
    flow = loads(text_of("handoff", "staff"))
    recognize = flow.records["staff.person"].fields["asked"].recognize
    assert isinstance(recognize, dict)
    assert bool(re.search(recognize["regex"], words)) is asks


def test_a_commit_without_the_motif_is_open_at_once() -> None:
    """The broken twin: what keeps the tool shut is the motif and nothing else."""
    text = text_of("confirm_then_commit", "ask")
    plain = re.sub(r"  ask: \{use.*\n", "  ask: {tools: [ask_it]}\n", text)
    assert loads(text).tools["ask_it"].when is not None
    assert loads(plain).tools["ask_it"].when is None
