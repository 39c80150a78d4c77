"""SVG and PNG from a real engine, and what is said when there is none."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from flowengine.flow.model import Flow, Phase, Transition
from flowengine.render import RenderError, to_png, to_svg
from flowengine.render.engine import engine
from flowengine.render.label import visible

SVG = "{http://www.w3.org/2000/svg}"
with_engine = pytest.mark.skipif(
    engine() is None, reason="neither graphviz-pure nor Graphviz's dot is installed"
)


def parts(svg: str) -> dict[str, ElementTree.Element]:
    return {part.get("id", ""): part for part in ElementTree.fromstring(svg).iter(f"{SVG}g")}


def words(part: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in part.iter(f"{SVG}text")]


@with_engine
def test_parts_carry_ids_and_classes_for_a_page(debt: Flow) -> None:
    found = parts(to_svg(debt, active=["plan"], visited=["opening"], edges_taken=["global.0"]))
    assert found["p4"].get("class") == "node phase active"
    assert found["p0"].get("class") == "cluster phase visited"
    assert found["e0"].get("class") == "edge own"
    assert [part.get("class") for part in found.values()].count("edge global taken") == 1


@with_engine
def test_parts_are_titled_with_their_names(debt: Flow) -> None:
    found = parts(to_svg(debt))
    titles = {id: part.findtext(f"{SVG}title") for id, part in found.items()}
    assert titles["flow"] == "debt"
    assert titles["p2"] == "verify"
    assert titles["e0"] == "greeting.0"


@with_engine
def test_an_svg_has_no_style_sheet(debt: Flow) -> None:
    svg = to_svg(debt, legend=True)
    assert "<style" not in svg
    assert "var(" not in svg


@with_engine
def test_the_same_flow_gives_the_same_picture(clinic: Flow) -> None:
    assert to_svg(clinic) == to_svg(clinic)


@with_engine
def test_a_png_grows_with_its_resolution(debt: Flow) -> None:
    small, large = to_png(debt, dpi=72), to_png(debt, dpi=144)
    assert small.startswith(b"\x89PNG")
    width = [int.from_bytes(png[16:20], "big") for png in (small, large)]
    assert width[1] == pytest.approx(2 * width[0], rel=0.01)


@with_engine
@settings(max_examples=40, deadline=None)
@given(st.text(min_size=1, max_size=12))
@example("0\n")
@example("\na\n\nb")
def test_any_name_can_be_drawn_and_read(name: str) -> None:
    flow = Flow(flow=name, phases={name: Phase(transitions=(Transition(to=name, on=name),))})
    found = parts(to_svg(flow))
    shown = visible(name if name.strip() else f'"{name}"')
    assert "".join("".join(words(found["p0"])).split()) == "".join(shown.split())
    assert found["p0"].findtext(f"{SVG}title") == visible(name)


@with_engine
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 100_000))
def test_any_flow_can_be_laid_out(random_flows: ModuleType, seed: int) -> None:
    flow = random_flows.random_flow(seed)
    found = parts(to_svg(flow))
    assert {f"p{n}" for n, _ in enumerate(flow.walk())} <= set(found)


def alone(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let programs be found in this folder only."""
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(folder))


def test_without_an_engine_the_error_names_both(
    debt: Flow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    alone(monkeypatch, tmp_path)
    with pytest.raises(RenderError) as failure:
        to_svg(debt)
    assert re.search(r"flowengine\[diagram\].*graphviz-pure.*`dot`", str(failure.value))


def test_an_engine_that_fails_is_quoted(
    debt: Flow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "dot"
    program.write_text("#!/bin/sh\necho 'no fonts here' >&2\nexit 3\n")
    program.chmod(0o755)
    alone(monkeypatch, tmp_path)
    with pytest.raises(RenderError, match="could not draw this flow: no fonts here"):
        to_png(debt)
