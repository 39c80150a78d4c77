"""The address of a declared request: placeholders fill its path and query, never its host."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote

import httpx2

from flowengine.errors import SourceError
from flowengine.sources.allow import parsed
from flowengine.sources.template import Values, fill

_PARTS = re.compile(r"([^/?#]*//[^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#.*)?", re.DOTALL)


def address(template: str, query: Mapping[str, str], values: Values) -> httpx2.URL:
    """The filled URL; a value is one step of the path, or one value of the query.

    Raises:
        SourceError: `missing_value` or `bad_url`; the message quotes no value
    """
    parts = _PARTS.fullmatch(template)
    if parts is None:
        raise SourceError("the URL needs a scheme and a host", code="bad_url")
    host, path, asked = parts[1], parts[2], parts[3]
    if "{" in host:
        raise SourceError(
            "a placeholder stands in the path or the query of a URL, not before", code="bad_url"
        )
    path = fill(path, values, _step)
    questions = [fill(asked, values, _escaped)] if asked else []
    questions += [f"{_escaped(n)}={_escaped(fill(text, values))}" for n, text in query.items()]
    for text in (path, *questions):
        if "{" in text or "}" in text:
            raise SourceError(
                "the URL has a brace left: a placeholder is {args.name} or {state.key}",
                code="bad_url",
            )
    return parsed(f"{host}{path}{'?' if questions else ''}{'&'.join(questions)}")


def _step(value: str) -> str:
    if not value:  # `/accounts/` would mean all of them
        raise SourceError("an empty value cannot stand in a path", code="bad_url")
    return _escaped(value)


def _escaped(value: str) -> str:
    return quote(value, safe="", errors="replace")
