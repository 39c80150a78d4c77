"""Locales are compiled once, ahead of the tests, which have deadlines."""

import pytest

from flowengine.extract.recognizers import warm_up


@pytest.fixture(autouse=True, scope="session")
def compiled_locales() -> None:
    warm_up()
    warm_up("es-ES")
