"""The public names are there, and a heavy package loads only when it is needed."""

import inspect
import json

import pytest

import attnlab
from attnlab import source

HEAVY = """
import json, sys
import attnlab, attnlab.cli, attnlab.figures, attnlab.sections
def loaded():
    return sorted({name for name in ("matplotlib", "torch") if name in sys.modules})
seen = [loaded()]
attnlab.run(["S1", "S2", "S3", "S4", "S5"]); seen.append(loaded())
attnlab.run(["S2"], save_figure=lambda name, figure: None); seen.append(loaded())
attnlab.run(["S6"]); seen.append(loaded())
print(json.dumps(seen))
"""


@pytest.mark.parametrize("name", attnlab.__all__)
def test_public_names_import_and_explain_themselves(name):
    value = getattr(attnlab, name)
    assert len(inspect.getdoc(value)) > 20
    if inspect.isfunction(value) or inspect.isclass(value):
        assert value.__module__.startswith("attnlab.")
        assert value.__doc__


def test_star_import_gives_the_public_names():
    names = {}
    exec("from attnlab import *", names)
    assert set(names) - {"__builtins__"} == set(attnlab.__all__)
    assert list(attnlab.__all__) == sorted(attnlab.__all__, key=lambda n: (not n.isupper(), n))


def test_the_package_has_no_other_names():
    assert {*attnlab.__all__, "__version__"} <= set(dir(attnlab))
    with pytest.raises(AttributeError, match="'attnlab' has no attribute 'runn'"):
        attnlab.runn  # noqa: B018


def test_importing_the_command_runs_nothing(python):
    done = python("-c", "import attnlab.__main__, attnlab.cli")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.torch
def test_heavy_packages_load_when_they_are_needed(python):
    done = python("-c", HEAVY)
    assert done.stderr == ""
    assert json.loads(done.stdout) == [[], [], ["matplotlib"], ["matplotlib", "torch"]]


def test_without_torch_the_other_sections_run_and_s6_says_what_is_missing(python, tmp_path):
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    (blocked / "torch.py").write_text("raise ImportError('no torch here')\n")
    code = "import attnlab; log = attnlab.run(); print(log.text, *log.skipped, sep='')"
    done = python("-c", code, PYTHONPATH=str(blocked))
    assert done.stderr == ""
    *_, s6_heading, s6_reason, empty, skipped = done.stdout.splitlines()
    assert "[S5]" in done.stdout
    assert s6_heading.startswith("[S6]")
    for fragment in ("not run", "PyTorch", "no torch here", "pip install 'attnlab[torch]'"):
        assert fragment in s6_reason
    assert (empty, skipped) == ("", "S6")


def test_source_shows_a_function_without_its_docstring():
    shown = source(attnlab.causal_mask)
    assert shown.startswith("def causal_mask(")
    assert shown.endswith("    return np.tri(int(n), dtype=np.bool_)")
    assert '"""' not in shown
    assert source(source_less) == "def source_less():\n    return 1"


def source_less():
    return 1
