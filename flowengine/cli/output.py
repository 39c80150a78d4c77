"""What commands print besides their result."""

from __future__ import annotations

import sys


def complain(message: str) -> None:
    """A message for a person, on stderr; stdout holds nothing but results."""
    print(message, file=sys.stderr)
