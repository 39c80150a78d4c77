"""Names that two things may not share."""

from __future__ import annotations

import pytest

from flowengine import loads
from flowengine.check import check
from flowengine.flow.diagnostic import FlowFileError

FLOW = """
flow: names
tools:
  {one}: {{respond: ok}}
  {other}: {{respond: ok}}
phases: {{a: {{initial: true, final: true}}}}
"""


@pytest.mark.parametrize(("one", "other"), [("a.b", "a__b"), ("a__b", "a.b"), ("2fa", "_2fa")])
def test_two_tools_that_a_model_cannot_tell_apart_are_refused(one: str, other: str) -> None:
    with pytest.raises(FlowFileError, match=f"told '{one}' and '{other}' under one name") as error:
        loads(FLOW.format(one=one, other=other))
    [diagnostic] = error.value.diagnostics
    assert (diagnostic.code, diagnostic.path) == ("alike_tools", f"/tools/{other}")


def test_names_that_a_model_can_tell_apart_are_not() -> None:
    assert list(loads(FLOW.format(one="a.b", other="a_b")).tools) == ["a.b", "a_b"]


def test_a_name_that_is_cut_for_the_model_is_told() -> None:
    name = "part." * 13 + "find"
    [found] = check(loads(FLOW.format(one=name, other="look")))
    assert (found.code, found.severity, found.path) == (
        "long_tool_name",
        "warning",
        f"/tools/{name}",
    )
    assert "which is told 'part__" in found.message


FRAGMENT = """
flow: names
fragments:
  part:
    tools: {find: {respond: ok}}
    phase: {final: true}
tools: {desk__find: {respond: ok}}
phases: {desk: {initial: true, use: part}}
"""


def test_a_fragments_tool_may_not_take_the_name_of_another_for_a_model() -> None:
    with pytest.raises(FlowFileError, match=r"'desk__find' and 'desk.find'"):
        loads(FRAGMENT)
    assert list(loads(FRAGMENT.replace("desk__find", "find")).tools) == ["find", "desk.find"]


EXTRACTION = """
flow: names
state: {{nights: integer}}
records: {{stay: {{fields: {{people: {{recognize: integer}}}}}}}}
computed: {{long: {{cases: [{{when: nights > 7, value: true}}]}}}}
extract:
  - {{name: mood, schema: {{properties: {{upset: {{type: boolean}}}}}}}}
  - {{name: {name}, schema: {{properties: {{wish: {{type: string}}}}}}}}
phases:
  talk: {{initial: true, final: true}}
"""


@pytest.mark.parametrize("name", ["mood", "stay", "nights", "long", "people", "upset"])
def test_an_extraction_has_a_name_of_its_own(name: str) -> None:
    with pytest.raises(FlowFileError, match=f"extraction {name!r}") as error:
        loads(EXTRACTION.format(name=name))
    [diagnostic] = error.value.diagnostics
    assert (diagnostic.code, diagnostic.path) == ("name_taken", "/extract/1/name")


def test_an_extraction_with_a_field_of_its_own_name_is_told_of_both() -> None:
    [found] = (f for f in check(loads(EXTRACTION.format(name="wish"))) if f.code == "name_taken")
    assert (found.severity, found.path) == ("warning", "/extract/1/name")
    assert "'derived:wish'" in found.message


def test_an_extraction_may_be_called_as_a_field_that_goes_to_another_key() -> None:
    flow = EXTRACTION.format(name="room").replace(
        "properties: {wish: {type: string}}}",
        "properties: {room: {type: string}}}, promote: [{field: room, to: wish}]",
    )
    assert [spec.name for spec in loads(flow).extract] == ["mood", "room"]
