"""Charts by flow: compiled once, then shared."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict

from flowengine.chart.chart import Chart
from flowengine.flow.model import Flow

CHARTS = 64
"""Charts that are kept; the one not used for longest makes room."""

_charts: OrderedDict[str, Chart] = OrderedDict()
_lock = threading.Lock()


def chart_of(flow: Flow, *, key: str | None = None) -> Chart:
    """The chart of a flow; `key` is the flow's hash where the caller knows it.

    Raises FlowError for a flow that cannot be compiled: a phase twice, an edge to nowhere.
    """
    key = key or hashlib.sha256(flow.model_dump_json().encode()).hexdigest()
    with _lock:
        if key in _charts:
            _charts.move_to_end(key)
        else:
            _charts[key] = Chart(flow)
            if len(_charts) > CHARTS:
                _charts.popitem(last=False)
        return _charts[key]
