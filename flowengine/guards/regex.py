"""Regular expressions by RE2: linear in the text, whatever the pattern."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import re2

from flowengine.errors import GuardError

MAX_INPUT = 10_000
"""How much of a value `matches` looks at, in characters."""


@lru_cache(maxsize=1_024)
def searcher(pattern: str) -> Callable[[str], bool]:
    """A function that tells whether the pattern occurs in a text.

    Raises:
        GuardError: RE2 cannot read the pattern.
    """
    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(pattern.encode(), options)
    except re2.error as error:  # pyright: ignore[reportUnknownVariableType]
        said = str(error.args[0], errors="replace")  # pyright: ignore[reportUnknownArgumentType]
        raise GuardError(
            f"this pattern is not RE2 ({said}); it has no back-references and no look-around"
        ) from None

    def found(text: str) -> bool:
        return compiled.search(text[:MAX_INPUT].encode(errors="replace")) is not None

    return found
