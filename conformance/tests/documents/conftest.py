"""Where the normative files are, for the tests that compare this project with them."""

import os
from pathlib import Path

import pytest

VARIABLE = "WORKER_CONFORMANCE_NORMATIVE"


@pytest.fixture(scope="session")
def normative() -> Path:
    named = os.environ.get(VARIABLE)
    if not named:
        pytest.skip(f"{VARIABLE} names no folder with the normative schemas and vectors")
    return Path(named)
