"""What can be said of a flow without running it."""

from flowengine.check.check import check, check_path
from flowengine.check.fixes import apply_fixes
from flowengine.flow.diagnostic import Diagnostic, FlowFileError

__all__ = ["Diagnostic", "FlowFileError", "apply_fixes", "check", "check_path"]
