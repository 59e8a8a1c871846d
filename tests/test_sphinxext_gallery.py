"""What is executed again, what is removed, and what one lesson leaves to the next."""

import locale
import os
import random
import shutil
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("sphinx", reason="the site's packages are not installed")

from attnlab.sphinxext import gallery


@pytest.fixture
def folders(tmp_path):
    """A folder of scripts, and a generated folder as sphinx-gallery leaves it."""
    scripts, generated = tmp_path / "gallery", tmp_path / "docs" / "lessons"
    scripts.mkdir()
    (generated / "images" / "thumb").mkdir(parents=True)
    for lesson in ("s1_one", "s2_two"):
        (scripts / f"{lesson}.py").write_text(f"print('{lesson}')\n", "utf-8")
        shutil.copy(scripts / f"{lesson}.py", generated)
        for name in (
            f"{lesson}.py.md5",
            f"{lesson}.rst",
            f"{lesson}.ipynb",
            f"images/sphx_glr_{lesson}_001.png",
            f"images/sphx_glr_{lesson}_001_2_00x.png",
            f"images/thumb/sphx_glr_{lesson}_thumb.svg",
        ):
            (generated / name).touch()
    (generated / "index.rst").touch()
    return scripts, generated


def files(folder):
    return {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}


class TestFingerprint:
    @pytest.fixture
    def sources(self, tmp_path):
        package = tmp_path / "attnlab"
        (package / "canonical").mkdir(parents=True)
        (package / "attention.py").write_text("x = 1\n")
        (package / "canonical" / "results.log").write_text("0.540\n")
        conf = tmp_path / "conf.py"
        conf.write_text("project = 'x'\n")
        return conf, package

    def test_is_the_same_for_the_same_sources(self, sources):
        before = gallery.fingerprint(*sources)
        (sources[1] / "__pycache__").mkdir()
        (sources[1] / "__pycache__" / "attention.cpython-311.pyc").touch()
        assert gallery.fingerprint(*sources) == before

    @pytest.mark.parametrize("name", ["attention.py", "canonical/results.log", "../conf.py"])
    def test_changes_with_every_file(self, sources, name):
        before = gallery.fingerprint(*sources)
        with (sources[1] / name).open("a") as file:
            file.write("#")
        assert gallery.fingerprint(*sources) != before

    def test_changes_when_a_file_is_renamed(self, sources):
        before = gallery.fingerprint(*sources)
        (sources[1] / "attention.py").rename(sources[1] / "heads.py")
        assert gallery.fingerprint(*sources) != before

    @pytest.mark.parametrize("changed", ["numpy", "matplotlib", "torch", "sphinx-gallery"])
    def test_changes_with_every_version(self, sources, monkeypatch, changed):
        before = gallery.fingerprint(*sources)
        real = gallery.version
        monkeypatch.setattr(
            gallery, "version", lambda name: "0.0" if name == changed else real(name)
        )
        assert gallery.fingerprint(*sources) != before

    def test_changes_with_python(self, sources, monkeypatch):
        before = gallery.fingerprint(*sources)
        monkeypatch.setattr(gallery.platform, "python_version", lambda: "3.99.0")
        assert gallery.fingerprint(*sources) != before

    def test_needs_no_torch(self, sources, monkeypatch):
        monkeypatch.setattr(gallery, "DISTRIBUTIONS", ("no-such-distribution",))
        assert gallery.fingerprint(*sources)

    def test_looks_at_the_package_that_is_imported(self):
        assert (gallery.PACKAGE / "attention.py").is_file()


class TestStaleLessons:
    def test_nothing_is_removed_while_everything_fits(self, folders):
        before = files(folders[1])
        gallery.forget_stale_lessons(*folders, usable=True)
        assert files(folders[1]) == before

    def test_a_changed_script_loses_its_pages_and_no_other_does(self, folders):
        before = files(folders[1])
        (folders[0] / "s1_one.py").write_text("print('new')\n")
        gallery.forget_stale_lessons(*folders, usable=True)
        assert files(folders[1]) == {name for name in before if "s1_one" not in name}

    def test_a_deleted_script_loses_its_pages(self, folders):
        (folders[0] / "s2_two.py").unlink()
        gallery.forget_stale_lessons(*folders, usable=True)
        assert not any("s2_two" in name for name in files(folders[1]))
        assert any("s1_one" in name for name in files(folders[1]))

    def test_all_pages_go_when_the_package_changed(self, folders):
        gallery.forget_stale_lessons(*folders, usable=False)
        assert files(folders[1]) == {"index.rst"}

    def test_line_ends_are_not_a_change(self, folders):
        before = files(folders[1])
        (folders[0] / "s1_one.py").write_bytes(b"print('s1_one')\r\n")
        gallery.forget_stale_lessons(*folders, usable=True)
        assert files(folders[1]) == before

    def test_a_first_build_has_nothing_to_remove(self, folders, tmp_path):
        gallery.forget_stale_lessons(folders[0], tmp_path / "nowhere", usable=False)


class TestMissingFigures:
    @pytest.mark.parametrize(
        ("script", "missing"),
        [
            ("print(1)\n", 0),
            ("plt.show()\n", 0),
            ("if True:\n    plt.show()\n", 0),
            ("# plt.show()\n#\n# plt.show() shows it\n", 0),
            ("plt.show()\nplt.show()\n", 1),
            ("plt.show()\nplt.show()\nplt.show()\n", 2),
        ],
    )
    def test_counts_what_is_shown_but_not_there(self, folders, script, missing):
        (folders[0] / "s1_one.py").write_text(script)  # its page has one figure, in two sizes
        assert gallery.missing_figures(folders[0] / "s1_one.py", folders[1]) == missing

    def test_is_a_warning_that_names_the_script(self, folders, monkeypatch):
        logged = []
        monkeypatch.setattr(
            gallery.logger, "warning", lambda text, *args, **_: logged.append(text % args)
        )
        gallery.check_figures(app(folders))
        assert logged == []
        script = folders[0] / "s2_two.py"
        script.write_text("plt.show()\nplt.show()\n")
        gallery.check_figures(app(folders))
        assert logged == [f"{script} shows 1 figure(s) that are not on its page"]


def app(folders):
    """What the handlers need of a Sphinx application."""
    handlers = {}
    root = folders[0].parent
    (root / "conf.py").touch()
    return SimpleNamespace(
        confdir=root,
        srcdir=root / "docs",
        config=SimpleNamespace(
            sphinx_gallery_conf={"examples_dirs": "../gallery", "gallery_dirs": "lessons"}
        ),
        connect=lambda event, handler, priority=500: handlers.setdefault(event, handler),
        handlers=handlers,
    )


class TestPrepare:
    def test_pages_stay_after_a_good_build_and_go_after_a_bad_one(self, folders):
        before = files(folders[1])

        first = app(folders)
        gallery.prepare(first)
        assert files(folders[1]) == {"index.rst"}  # no record of how the pages came to be

        for file in before:
            (folders[1] / file).touch()
        for script in folders[0].iterdir():
            shutil.copy(script, folders[1])
        first.handlers["build-finished"](first, None)
        good = app(folders)
        gallery.prepare(good)
        assert files(folders[1]) == before

        good.handlers["build-finished"](good, ValueError("a lesson failed"))
        gallery.prepare(app(folders))
        assert files(folders[1]) == {"index.rst"}

    def test_an_interrupted_build_leaves_no_record(self, folders):
        interrupted = app(folders)
        gallery.prepare(interrupted)
        interrupted.handlers["build-finished"](interrupted, None)
        assert (folders[1] / gallery.FINGERPRINT).exists()
        gallery.prepare(app(folders))  # and never finishes
        assert not (folders[1] / gallery.FINGERPRINT).exists()


def test_the_extension_runs_around_sphinx_gallery_if_it_is_there():
    connected = {}
    fake = SimpleNamespace(
        connect=lambda event, handler, priority=500: connected.update({handler: priority}),
    )
    gallery.connect(fake, {})
    assert not connected
    gallery.connect(fake, {"sphinx_gallery_conf": {}})
    assert connected[gallery.prepare] < 500 < connected[gallery.check_figures]


class TestStaleOutput:
    @pytest.fixture
    def site(self, folders, tmp_path):
        out = tmp_path / "html"
        for name in (
            "index.html",
            "_sources/index.rst.txt",
            "lessons/s1_one.html",
            "_sources/lessons/s1_one.rst.txt",
            "lessons/s9_gone.html",
            "_sources/lessons/s9_gone.rst.txt",
            "_sources/never_written.rst.txt",
            "genindex.html",
            "notes.html",
            "_downloads/1/s1_one.py",
            "_downloads/9/s9_gone.py",
            "_images/sphx_glr_s1_one_001.png",
            "_images/diagram.png",
            "_images/sphx_glr_s9_gone_001.png",
        ):
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (out / name).touch()
        sphinx = app(folders)
        sphinx.outdir = out
        sphinx.builder = SimpleNamespace(name="html")
        sphinx.env = SimpleNamespace(
            found_docs={"index", "lessons/s1_one"},
            images={"docs/diagram.png": ({"index"}, "diagram.png")},
            dlfiles={"lessons/s1_one.py": ({"lessons/s1_one"}, "1/s1_one.py")},
        )
        return sphinx

    def test_what_is_gone_goes_and_the_rest_stays(self, site):
        before = files(site.outdir)
        gallery.remove_stale_output(site, None)
        assert before - files(site.outdir) == {
            "lessons/s9_gone.html",
            "_sources/lessons/s9_gone.rst.txt",
            "_sources/never_written.rst.txt",
            "_downloads/9/s9_gone.py",
            "_images/sphx_glr_s9_gone_001.png",
        }

    def test_a_failed_build_removes_nothing(self, site):
        before = files(site.outdir)
        gallery.remove_stale_output(site, ValueError())
        assert files(site.outdir) == before

    def test_another_builder_removes_nothing(self, site):
        before = files(site.outdir)
        site.builder.name = "linkcheck"
        gallery.remove_stale_output(site, None)
        assert files(site.outdir) == before


def test_a_lesson_leaves_no_state_behind(monkeypatch):
    gallery._remember_state.cache_clear()
    monkeypatch.setenv("ATTNLAB_KEPT", "1")
    with warnings.catch_warnings():
        gallery.reset_state({}, "s1.py")

        def state():
            return (
                dict(os.environ),
                list(warnings.filters),
                locale.setlocale(locale.LC_ALL),
                random.getstate(),
                str(np.random.get_state()),  # noqa: NPY002
                np.geterr(),
                np.get_printoptions(),
            )

        clean = state()
        monkeypatch.delenv("ATTNLAB_KEPT")
        monkeypatch.setenv("ATTNLAB_NEW", "1")
        warnings.simplefilter("ignore")
        locale.setlocale(locale.LC_ALL, "C.UTF-8" if clean[2] == "C" else "C")
        random.seed(1)
        np.random.seed(1)  # noqa: NPY002
        np.seterr(all="raise")
        np.set_printoptions(precision=2)
        assert all(left != right for left, right in zip(clean, state(), strict=True))

        gallery.reset_state({}, "s2.py")
        assert state() == clean
        with pytest.raises(UserWarning, match="heard"):
            warnings.warn("heard", UserWarning, stacklevel=1)
    gallery._remember_state.cache_clear()
