"""The deterministic core: one input to a session gives its next snapshot, facts and effects."""

from flowengine.kernel.compiled import compile_flow, flow_hash
from flowengine.kernel.context import Context
from flowengine.kernel.explain import Explanation, WhyNot
from flowengine.kernel.parts import CompiledFlow
from flowengine.kernel.snapshot import Snapshot, from_json, to_json
from flowengine.kernel.step import Kernel, Step

__all__ = [
    "CompiledFlow",
    "Context",
    "Explanation",
    "Kernel",
    "Snapshot",
    "Step",
    "WhyNot",
    "compile_flow",
    "flow_hash",
    "from_json",
    "to_json",
]
