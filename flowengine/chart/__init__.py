"""From a flow to a statechart: the one place that knows python-statemachine."""

from flowengine.chart.cache import chart_of
from flowengine.chart.chart import Chart, Offer
from flowengine.chart.move import Configuration, Edge, History, Move, Step, frame
from flowengine.chart.tree import MAIN

__all__ = [
    "Chart",
    "Configuration",
    "Edge",
    "History",
    "MAIN",
    "Move",
    "Offer",
    "Step",
    "chart_of",
    "frame",
]
