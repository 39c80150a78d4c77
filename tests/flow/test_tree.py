"""Whatever the file, an answer comes soon, and it is never a traceback."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowengine.errors import FlowError
from flowengine.flow.diagnostic import FlowFileError
from flowengine.flow.load import loads


def laughs() -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    for n in range(1, 12):
        lines.append(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]")
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (laughs(), "too_many_aliases"),
        ("a: &a x\nb: [" + "*a, " * 250_000 + "]", "too_many_aliases"),
        ("flow: " + "[" * 100_000, "too_deep"),
        ("flow: " + "{a: " * 50_000, "too_deep"),
        ("\n".join(" " * n + "a:" for n in range(300)), "too_deep"),
        ("- " * 5_000 + "a", "too_deep"),
        ("a: [" + "x, " * 250_000 + "]", "too_large"),
        ("flow: \x00", "yaml_syntax"),
        ("flow: \x07", "yaml_syntax"),
        ("%YAML 9.9\n---\nflow: x", "yaml_syntax"),
        ("&a : b", "missing"),
        ("? {a: b}\n: c", "key_not_text"),
    ],
    ids=[
        "laughs",
        "aliases",
        "lists",
        "mappings",
        "indents",
        "dashes",
        "values",
        "nul",
        "bell",
        "version",
        "no key",
        "map as key",
    ],
)
def test_hostile_text_is_a_clear_error_soon(text: str, code: str, found) -> None:
    start = time.monotonic()
    assert code in [found_code for found_code, _, _ in found(text)]
    assert time.monotonic() - start < 20


def test_a_very_long_line_is_cut_in_the_excerpt(broken) -> None:
    [diagnostic] = broken(
        f"flow: x\nphases: {{{'a: {}, ' * 0}a: {{say: '{'y' * 5_000}', zz: 1}}}}\n"
    )
    assert diagnostic.code == "unknown_key"
    assert max(map(len, diagnostic.excerpt.splitlines())) < 120


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_mangled_text_is_a_flow_or_a_flow_error(data: st.DataObject, good) -> None:
    text = good
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(at, min(len(text), at + 12)))
        piece = data.draw(
            st.sampled_from([*"{}[]:,&*!|>'\"%@`#-?\t\n", "<<: ", "null", "&a ", "*a", "- "])
            | st.text(max_size=3)
        )
        text = text[:at] + piece + text[end:]
    try:
        loads(text)
    except FlowError as error:
        told = str(error)
    else:
        told = "a flow"
    assert told


@settings(max_examples=100, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["to", "when", "phases", "a", "set", "do", "type", "run", "x-y"]),
            inner,
            max_size=3,
        ),
        max_leaves=12,
    ),
    st.sampled_from(
        ["state", "records", "extract", "computed", "watch", "tools", "phases", "digressions",
         "global_transitions", "patterns", "models", "monitors", "phase_defaults"]
    ),
)  # fmt: skip
def test_any_json_in_any_section_is_a_flow_or_a_flow_error(value: object, section: str) -> None:
    document = {"flow": "x", "phases": {"a": {}}, section: value}
    try:
        text = json.dumps(document, allow_nan=False)
    except ValueError:
        return
    for format in ("json", "yaml"):
        try:
            loads(text, format=format)  # pyright: ignore[reportArgumentType]
        except FlowFileError as error:
            found = error.diagnostics
        else:
            found = ()
        assert all(d.line for d in found)
