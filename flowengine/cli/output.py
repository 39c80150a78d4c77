"""What commands print besides their result."""

from __future__ import annotations

import sys


def complain(message: str) -> None:
    """A message for a person, on stderr; stdout holds nothing but results."""
    sys.stdout.flush()  # so that the two keep their order where both go to one place
    print(message, file=sys.stderr)
