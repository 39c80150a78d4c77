"""Many recorded calls through the kernel: what a flow makes of them, without a model."""

from flowengine.batch.calls import Call, Dialogue, Recording, RowError, Unreadable, Utterance
from flowengine.batch.compare import Difference
from flowengine.batch.recorded import inputs_from_json, inputs_to_json, recording_lines
from flowengine.batch.replay import Options, replay, replay_folder
from flowengine.batch.report import CallReport, Captured, Summary, summary_of
from flowengine.batch.rows import read_calls

__all__ = [
    "Call",
    "CallReport",
    "Captured",
    "Dialogue",
    "Difference",
    "Options",
    "Recording",
    "RowError",
    "Summary",
    "Unreadable",
    "Utterance",
    "inputs_from_json",
    "inputs_to_json",
    "read_calls",
    "recording_lines",
    "replay",
    "replay_folder",
    "summary_of",
]
