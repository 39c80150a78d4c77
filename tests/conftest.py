"""What several folders of tests share."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def random_flows() -> ModuleType:
    """`random_flows.py`: flows, inputs and guards' truth, each from a seed."""
    path = Path(__file__).with_name("random_flows.py")
    spec = importlib.util.spec_from_file_location("random_flows", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["random_flows"] = module
    spec.loader.exec_module(module)
    return module
