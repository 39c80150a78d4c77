"""Parts of a field: they add up, and never overrule each other in silence."""

from __future__ import annotations

import pytest

from flowengine import FlowError
from flowengine.extract import FieldSpec, field, kinds, resolve
from flowengine.extract.record.parts import field_spec

ASKED = field(when_asked=True, asks=["how many"])


def test_parts_add_up_in_any_order_and_can_be_shared() -> None:
    first = field_spec("a", [kinds.integer(), ASKED, field(to="order:size")])
    assert first == field_spec("b", [field(to="order:size"), ASKED, kinds.integer()])
    assert first == FieldSpec(
        recognize="integer", when_asked=True, asks=("how many",), to="order:size"
    )


def test_a_resolver_has_a_ttl_only_if_it_was_given_one() -> None:
    assert resolve("look_up").given == {"resolve": "look_up", "args": ()}
    assert field_spec("a", [resolve("look_up", "slot", ttl="30s")]).ttl == "30s"


@pytest.mark.parametrize(
    ("parts", "cure"),
    [
        ([kinds.integer(), kinds.number()], "here: recognize is given twice"),
        ([kinds.integer(), ASKED, field(asks=["x"])], "here: asks is given twice"),
        ([kinds.integer(), resolve("x")], "here: a field needs either `recognize` or `resolve`"),
        ([ASKED], "here: nothing fills it; add a recognizer such as integer(), or resolve(...)"),
        ([resolve("x", ttl="soon")], "here: ttl: "),
        ([kinds.integer(), field(accept_when="in_phase(")], "here: accept_when: "),
    ],
)
def test_what_does_not_add_up_is_told_with_its_place(parts: list[object], cure: str) -> None:
    with pytest.raises(FlowError) as raised:
        field_spec("here", parts)  # pyright: ignore[reportArgumentType]
    assert cure in str(raised.value)
