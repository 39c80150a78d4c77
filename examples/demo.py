"""`make demo`: real dialogues, replayed through the table-booking flow without any model.

Public restaurant dialogues are used where they lie beside the repository, our own otherwise.
"""

from __future__ import annotations

from pathlib import Path

from flowengine.cli.replay import replay_files

ROOT = Path(__file__).parent.parent
PUBLIC = ROOT.parent / "shared" / "data" / "dialogues" / "dialogues.jsonl"
OWN = ROOT / "examples" / "dialogues" / "booking.jsonl"


def main() -> int:
    flow = ROOT / "flows" / "table_booking"
    if PUBLIC.is_file():
        return replay_files(flow, [PUBLIC], False, "Restaurants")
    return replay_files(flow, [OWN], False, "")


if __name__ == "__main__":
    raise SystemExit(main())
