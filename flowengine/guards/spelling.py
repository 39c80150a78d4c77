"""How names and values are spelled in guard text: bare words, quotes, canonical JSON."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import cast

from flowengine.errors import GuardError

MAX_TEXT = 2_000
"""Longest guard text that is read, in characters."""

RESERVED = frozenset(
    {
        *("and", "or", "not", "in", "matches", "true", "false", "null", "args"),
        *("always", "caller_spoke", "turns_in_phase", "elapsed"),
        *("True", "False", "None", "AND", "OR", "NOT"),
    }
)

_JOINERS = ".:-"
_UNQUOTED = re.compile(r'\\.|"', re.DOTALL)


def word_end(text: str, start: int) -> int:
    """Where the bare word that starts at `start` ends; `start` itself when there is none."""
    if start >= len(text) or not (text[start] == "_" or text[start].isalpha()):
        return start
    end = start
    while end < len(text) and (_continues(text[end]) or _joins(text, end)):
        end += 1
    return end


def is_dunder(word: str) -> bool:
    """Whether a part of the word looks like Python's inner names; such keys are quoted."""
    return any(
        len(part) > 4 and part.startswith("__") and part.endswith("__")
        for part in re.split("[.:-]", word)
    )


def is_word(name: str) -> bool:
    """Whether a name can be written without quotes."""
    return (
        word_end(name, 0) == len(name) > 0
        and name not in RESERVED
        and not name.startswith("args.")
        and not is_dunder(name)
    )


def name_text(name: str) -> str:
    """A name as an argument of an atom: `done(greeting)`, `done("my phase")`."""
    return name if is_word(name) else canonical(name)


def key_text(name: str) -> str:
    """A key as a term of a comparison: `quantity`, or in backquotes."""
    return name if is_word(name) else "`" + name.replace("`", "``") + "`"


def pattern_text(pattern: str) -> str:
    r"""A pattern after `matches`: backslashes as they are, a bare `"` doubled."""
    body = _UNQUOTED.sub(lambda found: '""' if found[0] == '"' else found[0], pattern)
    return f'"{body}"'


def canonical(value: object) -> str:
    """The JSON text by which a value is kept, compared and written."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True)
        text.encode()
    except (TypeError, ValueError, RecursionError):
        raise GuardError(
            f"a {type(value).__name__} like this cannot stand in a guard; "
            "write a JSON value: text, a finite number, true, false, a list or an object"
        ) from None
    return text


def python(value: object) -> str:
    """A JSON value as Python, its text in double quotes."""
    if isinstance(value, str):
        return canonical(value)
    if isinstance(value, list):
        return f"[{', '.join(map(python, cast('list[object]', value)))}]"
    if isinstance(value, dict):
        fields = cast("dict[object, object]", value).items()
        return f"{{{', '.join(f'{python(name)}: {python(field)}' for name, field in fields)}}}"
    return repr(value)


def checked_name(name: object, what: str) -> str:
    """The name itself, if it can be one."""
    if not isinstance(name, str) or not name:
        raise GuardError(f"{what} is a name, written as text that is not empty")
    canonical(name)
    return name


def is_list(value: object) -> bool:
    return isinstance(value, list)


def listed(tag: str, body: object) -> list[object]:
    """The list that follows a word of the JSON form."""
    if not isinstance(body, list):
        raise GuardError(f"{tag} is followed by a list")
    return cast("list[object]", body)


def _continues(character: str) -> bool:
    return (
        character == "_"
        or character.isalnum()
        or character in "\u200c\u200d"
        or unicodedata.category(character).startswith("M")
    )


def _joins(text: str, at: int) -> bool:
    return text[at] in _JOINERS and at + 1 < len(text) and _continues(text[at + 1])
