"""`flowengine test`: scenarios of flows by pytest, whose plugin comes with this package."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec

from flowengine.cli.misuse import Misuse
from flowengine.cli.output import complain
from flowengine.errors import FlowEngineError

_WRONG_USAGE, _NOTHING_COLLECTED = 4, 5
"""Exit codes of pytest."""


def run_scenarios(args: Sequence[str]) -> int:
    """Run pytest in a process of its own, so that it finds nothing loaded before it."""
    if find_spec("pytest") is None:
        raise FlowEngineError("scenarios are run by pytest: pip install pytest")
    code = subprocess.run([sys.executable, "-m", "pytest", *args], check=False).returncode
    if code == _WRONG_USAGE:
        raise Misuse("pytest did not understand this; see `pytest --help` for its options")
    if code == _NOTHING_COLLECTED:
        complain("no scenario here: they are files named *.scenario.yaml, and pytest's own tests")
    return 0 if code == 0 else 1
