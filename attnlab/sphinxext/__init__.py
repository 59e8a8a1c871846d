"""The Sphinx extension that builds the workshop's site.

One module a task: `mathml` turns formulas into MathML while the site is built, `gallery` decides
which lessons are executed again and removes what is out of date.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attnlab
from attnlab.sphinxext import (
    audit,
    bundle,
    directives,
    downloads,
    exercises,
    gallery,
    mathml,
    pictures,
    proof,
    roles,
    tables,
)

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata


def setup(app: Sphinx) -> ExtensionMetadata:
    """Connect every part of the extension to Sphinx."""
    mathml.setup(app)
    gallery.setup(app)
    proof.setup(app)
    roles.setup(app)
    audit.setup(app)
    directives.setup(app)
    tables.setup(app)
    exercises.setup(app)
    downloads.setup(app)
    pictures.setup(app)
    bundle.setup(app)
    return {
        "version": attnlab.__version__,
        "env_version": 2,
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
