"""What a flow may say of a tool."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from flowengine.tools.spec import Tool


def test_a_type_alone_is_short_for_its_schema() -> None:
    assert Tool.model_validate({"args": {"day": "string"}}).args == {"day": {"type": "string"}}


@pytest.mark.parametrize("schema", ["strng", {"type": "strng"}, {"type": ["strng", "null"]}])
def test_a_misspelt_type_is_found_when_the_flow_is_loaded(schema: object) -> None:
    with pytest.raises(ValidationError, match=r"'day': there is no type 'strng'.*'string'"):
        Tool.model_validate({"args": {"day": schema}})


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"run": "a", "http": {"url": "https://a.example"}}, "it has run and http"),
        ({"commit": True, "background": "silent"}, "cannot run in the background"),
    ],
)
def test_what_excludes_each_other_is_refused(fields: dict[str, object], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        Tool.model_validate(fields)


@pytest.mark.parametrize(
    ("fields", "limit", "finishes"),
    [
        ({}, None, False),
        ({"commit": True}, "once", True),
        ({"commit": True, "times": "per_arguments"}, "per_arguments", True),
        ({"background": "silent"}, None, True),
        ({"commit": True, "on_interruption": "cancel"}, "once", False),
    ],
)
def test_a_commit_runs_once_and_finishes(
    fields: dict[str, object], limit: str | None, finishes: bool
) -> None:
    tool = Tool.model_validate(fields)
    assert (tool.limit, tool.finishes) == (limit, finishes)
