"""Deterministic recognizers: from a caller's words to typed values, on the CPU, in microseconds."""

from flowengine.extract.recognizers.base import Context, Recognition, Recognizer, RecognizerError
from flowengine.extract.recognizers.locale import RECOGNIZERS_VERSION, locale_hash
from flowengine.extract.recognizers.registry import KINDS, recognize, recognizer, warm_up
from flowengine.extract.recognizers.text import Utterance, utterance

__all__ = [
    "Context",
    "KINDS",
    "RECOGNIZERS_VERSION",
    "Recognition",
    "Recognizer",
    "RecognizerError",
    "Utterance",
    "locale_hash",
    "recognize",
    "recognizer",
    "utterance",
    "warm_up",
]
