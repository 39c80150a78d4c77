"""The async shell around the kernel: live sessions and the effects they run."""

from flowengine.runtime.outcome import Cancelled, Denied, Failed, Ran, ToolOutcome
from flowengine.runtime.result import TurnResult
from flowengine.runtime.session import Session

__all__ = ["Cancelled", "Denied", "Failed", "Ran", "Session", "ToolOutcome", "TurnResult"]
