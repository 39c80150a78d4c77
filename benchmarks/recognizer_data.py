"""The data the recognizers are measured on, and a score with its floor; not a script of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
Row = Mapping[str, Any]


@dataclass
class Score:
    """Hits among rows of one category; the floor is a percentage."""

    name: str
    floor: float | None = None
    hits: int = 0
    rows: int = 0
    misses: list[str] = field(default_factory=list)

    def add(self, hit: bool, row: Row, got: object) -> None:
        self.rows += 1
        self.hits += hit
        if not hit:
            gold = row.get("gold", row.get("expected"))
            self.misses.append(f"{row['input'][:110]!r} wanted {gold!r}, got {got!r}")

    def line(self, with_misses: bool) -> str:
        share = 100 * self.hits / self.rows if self.rows else 0.0
        floor, verdict = "", ""
        if self.floor is not None:
            floor = f">= {self.floor:g} %"
            verdict = "ok" if self._reached(share) else "BELOW"
        lines = [
            f"  {self.name:42} {self.hits:5}/{self.rows:<5} {share:6.2f} %  {floor:10} {verdict}"
        ]
        return "\n".join(lines + [f"      {miss}" for miss in self.misses if with_misses])

    def _reached(self, share: float) -> bool:
        """A small category may have one miss."""
        small = self.name.startswith("call") and self.rows < 34
        return share >= (self.floor or 0) or (small and self.rows - self.hits <= 1)


def rows_of(path: str, **wanted: str) -> list[Row]:
    file = DATA / path
    if not file.exists():
        raise SystemExit(f"the data {file} is absent")
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]


def reference(row: Row) -> datetime | None:
    return datetime.fromisoformat(row["ref"]) if row.get("ref") else None
