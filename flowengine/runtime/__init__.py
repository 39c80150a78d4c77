"""The async shell around the kernel: live sessions and the effects they run."""

from flowengine.runtime.hooks import Hooks
from flowengine.runtime.outcome import Accepted, Cancelled, Denied, Failed, Ran, ToolOutcome
from flowengine.runtime.result import TurnResult
from flowengine.runtime.services import Services
from flowengine.runtime.session import Session

__all__ = [
    "Accepted",
    "Cancelled",
    "Denied",
    "Failed",
    "Hooks",
    "Ran",
    "Services",
    "Session",
    "ToolOutcome",
    "TurnResult",
]
