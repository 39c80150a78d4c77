"""What a tool may know besides its arguments."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolContext:
    """A tool gets it by annotating a parameter with it.

    `state` is read-only. `cancelled` is set when the call is no longer wanted or its time is over:
    an async tool is cancelled as well, a thread of its own has to look.
    """

    state: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    call: str = ""
    key: str = ""
    """The call's idempotency key; the same for a call that is made again after a failure."""
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
