"""Many recorded calls at once."""

from flowengine.batch.replay import Options, replay, replay_folder
from flowengine.batch.report import CallReport, Captured, Summary, summary_of
from flowengine.batch.rows import read_calls

__all__ = [
    "CallReport",
    "Captured",
    "Options",
    "Summary",
    "read_calls",
    "replay",
    "replay_folder",
    "summary_of",
]
