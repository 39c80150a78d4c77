"""The machine with which the chart must agree."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def plain_machine(random_flows: ModuleType) -> ModuleType:
    """`plain_machine.py`, which reads the guards of random flows."""
    path = Path(__file__).with_name("plain_machine.py")
    spec = importlib.util.spec_from_file_location("plain_machine", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["plain_machine"] = module
    spec.loader.exec_module(module)
    return module
