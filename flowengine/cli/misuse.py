"""A command that was called in a way that cannot work: exit code 2."""

from __future__ import annotations

from flowengine.errors import FlowEngineError


class Misuse(FlowEngineError):
    """Wrong usage; the message says what to write instead."""

    code = "usage"
