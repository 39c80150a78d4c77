"""Finds a flow's file and reads it as text; what cannot be read is an error that says why."""

from __future__ import annotations

import os
from pathlib import Path

from flowengine.errors import near_miss
from flowengine.flow.diagnostic import Diagnostic, FlowFileError

FLOW_FILES = ("flow.yaml", "flow.yml", "flow.json")
MAX_BYTES = 4_000_000


def flow_file(path: Path) -> Path:
    """The file that is meant by a path to a flow's folder, or to the file itself."""
    if not path.is_dir():
        return path
    found = [path / name for name in FLOW_FILES if (path / name).is_file()]
    if len(found) > 1:
        names = " and ".join(file.name for file in found)
        raise _error("many_files", f"this folder has {names}", path, "keep one of them")
    if not found:
        raise _error("no_file", "this folder has no flow in it", path, _nearby(path))
    return found[0]


def read_text(file: Path) -> str:
    """The text of a file in UTF-8, with or without a byte order mark."""
    try:
        if not file.exists():
            raise _error("no_file", "there is no such file", file, _nearby(file.parent, file.name))
        data = _read(file)
    except OSError as error:
        why = (error.strerror or "it cannot be read").lower()
        raise _error("no_file", why, file) from None
    except ValueError:
        raise _error("no_file", "no file can have this name", file) from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_utf8(file, data, error) from None


def _read(file: Path) -> bytes:
    if not file.is_file():
        raise _error("no_file", "this is not a regular file", file)
    with file.open("rb") as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        message = f"the file is larger than {MAX_BYTES // 1_000_000} MB"
        raise _error("too_large", message, file)
    return data


def _not_utf8(file: Path, data: bytes, error: UnicodeDecodeError) -> FlowFileError:
    before = data[: error.start]
    line = before.count(b"\n") + 1
    column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
    diagnostic = Diagnostic(
        code="not_utf8",
        message=f"byte {data[error.start]:#04x} is not UTF-8",
        file=str(file),
        line=line,
        column=column,
        suggestion="save the file as UTF-8",
    )
    return FlowFileError([diagnostic])


def _error(code: str, message: str, file: Path, suggestion: str = "") -> FlowFileError:
    diagnostic = Diagnostic(code=code, message=message, file=str(file), suggestion=suggestion)
    return FlowFileError([diagnostic])


def _nearby(folder: Path, name: str = "") -> str:
    """A file that may have been meant; for a folder, the names that are looked for."""
    if not name:
        return f"a flow is one of {', '.join(FLOW_FILES)}"
    if not folder.is_dir():
        return f"there is no folder {os.fspath(folder)!r} either"
    guess = near_miss(name, sorted(entry.name for entry in folder.iterdir())[:1_000])
    return f"did you mean {guess!r}?" if guess else ""
