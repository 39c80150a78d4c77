"""A small flow that records can fill."""

from __future__ import annotations

from pathlib import Path

import pytest

BOOKING = """
flow: booking
timezone: America/New_York
state:
  name: {type: string, pii: true}
records:
  booking:
    fields:
      people: {recognize: {integer_near: [people, table for]}}
      day: {recognize: date, prefer: future}
      name: {recognize: {regex: 'my name is (\\w+)'}}
extract:
  - name: Mood
    schema: {type: object, properties: {mood: {type: string}}}
phases:
  ask:
    initial: true
    instruction: Ask for people and day.
    needs: [people, day]
    transitions:
      - to: confirm
        when: captured([people, day])
      - to: gone
        after: 1m
  confirm:
    needs: [agreed]
    transitions:
      - to: booked
        when: is_true(agreed)
  booked: {final: true}
  gone: {final: true}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A flow's folder."""
    folder = tmp_path / "booking"
    folder.mkdir()
    (folder / "flow.yaml").write_text(BOOKING)
    return folder
