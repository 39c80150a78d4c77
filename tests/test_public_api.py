"""What `import flowengine` promises."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import flowengine
from flowengine import errors

SOURCE = Path(flowengine.__file__).read_text()


def test_all_names_exist_are_sorted_and_are_listed_once() -> None:
    assert list(flowengine.__all__) == sorted(set(flowengine.__all__))
    for name in flowengine.__all__:
        assert getattr(flowengine, name) is not None


def test_what_type_checkers_see_is_what_is_there() -> None:
    tree = ast.parse(SOURCE)
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        (alias.name, node.module)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert {name for name, _ in seen} == set(flowengine.__all__)
    home = {(name, module) for module, names in flowengine._HOME.items() for name in names}
    assert seen == home


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(flowengine, "Manager")


def test_importing_the_package_loads_no_heavy_library() -> None:
    code = (
        "import flowengine, sys; print(sorted({'statemachine', 'google.genai'} & {*sys.modules}))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_the_error_tree_of_the_docstring_is_the_real_one() -> None:
    drawn = set(re.findall(r"[├└]── (\w+)", errors.__doc__ or ""))
    real = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.FlowEngineError)
    }
    assert drawn | {"FlowEngineError"} == real
