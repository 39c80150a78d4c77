"""Recognizers that a record names: the kind exists, and its options fit."""

from __future__ import annotations

from collections.abc import Iterator

from flowengine.extract.recognizers import RecognizerError, recognizer
from flowengine.extract.spec import FieldSpec
from flowengine.flow.diagnostic import Finding
from flowengine.flow.index import Index


def recognizers(index: Index) -> Iterator[Finding]:
    """What cannot be made into a recognizer, with the recognizer's own words."""
    for path, part in index.parts:
        if isinstance(part, FieldSpec) and part.recognize is not None:
            fault = _fault(part)
            if fault:
                yield Finding("recognizer", fault, (*path, "recognize"))


def _fault(field: FieldSpec) -> str:
    if isinstance(field.recognize, dict) and len(field.recognize) != 1:
        return "a field has one recognizer: write `{kind: its argument}`."
    try:
        recognizer(field.kind, *field.argument, **field.options)
    except RecognizerError as error:
        return str(error)
    return ""
