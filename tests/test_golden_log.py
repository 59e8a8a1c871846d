"""A run gives the canonical log, and nobody edits that log without noticing."""

import hashlib
import platform
from importlib import metadata

import pytest

from attnlab.reproduce import canonical_path, canonical_text, compare

SHA256 = "5ad29c3ed47315d0dd35cb70fb445106425bacba409b4a3c86df1a34660dc552"
#: The versions of the canonical run; others may differ in the environment line and in noise.
VERSIONS = {"torch": "2.13.0+cpu", "numpy": "2.4.6", "matplotlib": "3.11.2"}


def test_the_canonical_log_is_untouched():
    assert hashlib.sha256(canonical_path().read_bytes()).hexdigest() == SHA256


def test_the_canonical_log_is_lf_and_ascii():
    assert canonical_text().isascii()
    assert "\r" not in canonical_text()
    assert canonical_text().endswith("]\n\n")
    assert all(line == line.rstrip() for line in canonical_text().split("\n"))


@pytest.mark.torch
def test_a_run_gives_the_canonical_log(log):
    found = compare(log)
    assert found.differences == ()
    assert found.compared == len(log.lines) == 100
    assert len(found.allowed) <= 3
    if platform.python_version() == "3.11.7" and all(
        metadata.version(name) == version for name, version in VERSIONS.items()
    ):
        assert log.text.encode() == canonical_path().read_bytes()
        assert found.allowed == ()
