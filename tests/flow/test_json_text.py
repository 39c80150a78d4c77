"""JSON goes through the same door as YAML, with the same positions and bounds."""

from __future__ import annotations

import pytest

from flowengine.flow.diagnostic import FlowFileError
from flowengine.flow.load import loads


def test_json_loads_with_tabs_escapes_and_surrogate_pairs() -> None:
    text = '{\n\t"flow": "x\\ud83d\\ude00",\n\t"phases": {"a\\/b": {"say": "\\u00e9"}}\n}'
    flow = loads(text, format="json")
    assert flow.flow == "x😀"
    assert flow.phases["a/b"].say == "é"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ("json_syntax", 1, 1)),
        ("[]", ("not_a_mapping", 1, 1)),
        ('{"flow" "x"}', ("json_syntax", 1, 9)),
        ('{"flow": NaN}', ("json_syntax", 1, 10)),
        ('{"flow": "x", "flow": "y", "phases": {"a": {}}}', ("duplicate_key", 1, 15)),
        ('{"flow": "x",\n\t"phases": {"a": {"say": 5}}}', ("wrong_type", 2, 26)),
        ('{"flow": "\\ud800", "phases": {"a": {}}}', ("json_syntax", 1, 10)),
        ('{"a":' * 60_000 + "1" + "}" * 60_000, ("too_deep", 1, 1)),
        ('{"flow": 1' + "0" * 5_000 + "}", ("json_syntax", 1, 10)),
    ],
    ids=[
        "nothing", "a list", "no colon", "not a number", "a key twice", "a wrong type",
        "half a pair", "too deep", "a huge number",
    ],
)  # fmt: skip
def test_broken_json_is_told_by_code_line_and_column(
    text: str, expected: tuple[str, int, int]
) -> None:
    with pytest.raises(FlowFileError) as caught:
        loads(text, format="json")
    assert [(d.code, d.line, d.column) for d in caught.value.diagnostics] == [expected]
