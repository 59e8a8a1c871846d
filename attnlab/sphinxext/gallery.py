"""What sphinx-gallery leaves open: when a lesson runs again, what it may see, what may stay.

sphinx-gallery runs a lesson again when the lesson's script changed. A lesson's output also depends
on the package and on the installed versions, so the folder of generated pages carries a
fingerprint of both, and the pages are thrown away when it no longer fits.
"""

from __future__ import annotations

import functools
import hashlib
import locale
import os
import platform
import random
import re
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sphinx.util import logging

if TYPE_CHECKING:
    from collections.abc import Callable

    from sphinx.application import Sphinx
    from sphinx.config import Config

logger = logging.getLogger(__name__)

PACKAGE = Path(__file__).resolve().parents[1]
DISTRIBUTIONS = ("matplotlib", "numpy", "sphinx-gallery", "torch")
FINGERPRINT = ".fingerprint"


def fingerprint(conf: Path, package: Path = PACKAGE) -> str:
    """Hash everything but its own script that a lesson's output depends on.

    Parameters
    ----------
    conf : Path
        Sphinx's configuration file.
    package : Path
        The package's folder. Every file in it counts, the canonical log too.

    Returns
    -------
    str
        A SHA-256 digest over the versions, the configuration and the package.
    """
    digest = hashlib.sha256(platform.python_version().encode())
    for name in DISTRIBUTIONS:
        digest.update(f"\0{name} {_version(name)}".encode())
    digest.update(conf.read_bytes())
    for file in sorted(package.rglob("*")):
        if file.is_file() and file.suffix != ".pyc":
            digest.update(f"\0{file.relative_to(package).as_posix()}\0".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "absent"


def lesson_files(generated: Path, lesson: str) -> list[Path]:
    """List every file that sphinx-gallery made of a lesson.

    Parameters
    ----------
    generated : Path
        The folder that sphinx-gallery writes to.
    lesson : str
        The name of the lesson's script, without ``.py``.

    Returns
    -------
    list of Path
        The copy of the script, page, notebook and archive, the records beside them, the figures
        and the thumbnail.
    """
    images = generated / "images"
    return [
        *generated.glob(f"{lesson}.*"),
        *images.glob(f"sphx_glr_{lesson}_[0-9][0-9][0-9]*"),
        *images.glob(f"thumb/sphx_glr_{lesson}_thumb.*"),
    ]


def forget_stale_lessons(scripts: Path, generated: Path, *, usable: bool) -> None:
    """Remove the generated files of each lesson that must run, or that is no longer there.

    sphinx-gallery then runs the lesson as if it were new, so no page, figure or download of an
    earlier run can stay.

    Parameters
    ----------
    scripts : Path
        The folder of the lessons' scripts.
    generated : Path
        The folder that sphinx-gallery writes to. It holds a copy of each script that it ran.
    usable : bool
        Whether the generated files of a lesson may stay if its script is unchanged.
    """
    for copy in generated.glob("*.py"):
        script = scripts / copy.name
        if not (
            usable and script.exists() and script.read_text("utf-8") == copy.read_text("utf-8")
        ):
            for file in lesson_files(generated, copy.stem):
                file.unlink()


def missing_figures(script: Path, generated: Path) -> int:
    """Count the figures that a lesson shows but its page lacks.

    Parameters
    ----------
    script : Path
        The lesson's script. It shows each figure with a line ``plt.show()``.
    generated : Path
        The folder that sphinx-gallery writes to.

    Returns
    -------
    int
        How many more lines show a figure than there are figures, or zero.
    """
    shown = len(re.findall(r"^\s*plt\.show\(", script.read_text("utf-8"), re.MULTILINE))
    made = list(generated.glob(f"images/sphx_glr_{script.stem}_[0-9][0-9][0-9].*"))
    return max(0, shown - len(made))


@functools.cache
def _remember_state() -> Callable[[], None]:
    """Note the state that a lesson may change, and return what puts it back."""
    environ = dict(os.environ)
    filters = list(warnings.filters)
    locale_name = locale.setlocale(locale.LC_ALL)
    python_random = random.getstate()
    numpy_random = np.random.get_state()  # noqa: NPY002 (a lesson may use it)
    numpy_errors = np.geterr()
    numpy_print = np.get_printoptions()

    def restore() -> None:
        os.environ.clear()
        os.environ.update(environ)
        warnings.resetwarnings()
        cast("list[Any]", warnings.filters).extend(filters)
        locale.setlocale(locale.LC_ALL, locale_name)
        random.setstate(python_random)
        np.random.set_state(numpy_random)  # noqa: NPY002
        np.seterr(**numpy_errors)
        np.set_printoptions(**numpy_print)

    return restore


def reset_state(gallery_conf: dict[str, Any], fname: str | None) -> None:
    """Give each lesson the process as the first one found it.

    Matplotlib's settings are sphinx-gallery's own ``"matplotlib"`` to reset; the working folder
    and the import path it restores by itself.

    Parameters
    ----------
    gallery_conf : dict
        sphinx-gallery's settings, unused.
    fname : str or None
        The script that runs next, unused.
    """
    _remember_state()()


def prepare(app: Sphinx) -> None:
    """Before sphinx-gallery runs: keep the generated pages only if nothing else changed.

    The fingerprint is taken away here and written again only when a build has ended well, so
    everything runs again after a build that failed or was interrupted.
    """
    conf = app.config.sphinx_gallery_conf
    if conf.get("default_thumb_file"):  # relative to conf.py, so that .buildinfo is the same
        conf["default_thumb_file"] = str(Path(app.confdir, conf["default_thumb_file"]))
    scripts, generated = _folders(app)
    current = fingerprint(Path(app.confdir, "conf.py"))
    record = generated / FINGERPRINT
    usable = record.exists() and record.read_text("utf-8") == current
    record.unlink(missing_ok=True)
    forget_stale_lessons(scripts, generated, usable=usable)

    def finish(app: Sphinx, exception: Exception | None) -> None:
        if exception is None:
            record.write_text(current, "utf-8")

    app.connect("build-finished", finish, priority=900)  # after sphinx-gallery's verdict


def check_figures(app: Sphinx) -> None:
    """After sphinx-gallery ran: warn of each lesson that shows a figure its page lacks."""
    scripts, generated = _folders(app)
    for script in sorted(scripts.glob("*.py")):
        missing = missing_figures(script, generated)
        if missing:
            logger.warning(
                "%s shows %d figure(s) that are not on its page",
                script.resolve(),
                missing,
                type="attnlab",
                subtype="figure",
            )


def _folders(app: Sphinx) -> tuple[Path, Path]:
    """Return the folder of the scripts and the folder of the generated pages."""
    conf = app.config.sphinx_gallery_conf
    return Path(app.srcdir, conf["examples_dirs"]), Path(app.srcdir, conf["gallery_dirs"])


def remove_stale_output(app: Sphinx, exception: Exception | None) -> None:
    """Remove what Sphinx wrote for documents, figures and downloads that are gone.

    Sphinx itself never removes a page. It leaves a copy of each page's source in ``_sources``,
    which tells its own pages from any other file in the folder; ``_images`` and ``_downloads``
    are its own altogether.
    """
    if exception is not None or app.builder.name != "html":
        return
    out = Path(app.outdir)
    sources = out / "_sources"
    for source in sources.rglob("*.rst.txt"):
        document = source.relative_to(sources).as_posix().removesuffix(".rst.txt")
        if document not in app.env.found_docs:
            source.unlink()
            (out / f"{document}.html").unlink(missing_ok=True)
    _, generated = _folders(app)
    images = {str(name) for _, name in app.env.images.values()}
    images |= {file.name for file in generated.glob("images/*")}
    _keep_only(out / "_images", images)
    _keep_only(out / "_downloads", {str(name) for _, name in app.env.dlfiles.values()})


def _keep_only(folder: Path, names: set[str]) -> None:
    """Remove each file of a folder whose path in it is not among the names."""
    for file in folder.rglob("*"):
        if file.is_file() and file.relative_to(folder).as_posix() not in names:
            file.unlink()


def connect(app: Sphinx, config: Config) -> None:
    """On a site with lessons, go around sphinx-gallery's handlers (which have priority 500)."""
    if "sphinx_gallery_conf" in config:
        app.connect("builder-inited", prepare, priority=400)
        app.connect("builder-inited", check_figures, priority=600)
        app.connect("build-finished", remove_stale_output)


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.connect("config-inited", connect)
