"""Which packages the training's sites come out of: one line each, of looks that differ.

None of them may be among those of bench/qa_accuracy: a test of the project sees to it.
"""

from __future__ import annotations

from bench.qa_training.packages import Package

_DEBIAN = [
    "apache2-doc",
    "aptitude-doc-ja",
    "awesome-doc",
    "castle-game-engine-doc",
    "cimg-doc",
    "colobot-dev-doc",
    "csound-doc",
    "debian-handbook",
    "dblatex-doc",
    "eqonomize-doc",
    "evolver-doc",
    "exim4-doc-html",
    "focalinux-html",
    "gle-doc",
    "gnumed-doc",
    "graphviz-doc",
    "grass-doc",
    "hibiscus-doc",
    "imagemagick-6-doc",
    "kst-doc",
    "luma.led-matrix-doc",
    "ntpsec-doc",
    "openshot-qt-doc",
    "python-sklearn-doc",
    "sqlite3-doc",
    "php-twig-doc",
    "gimp-help-en",
    "blends-doc",
    "geographiclib-doc",
    "lammps-doc",
    "plplot-doc",
    "munin-doc",
    "postgresql-doc-15",
]

_NPM = [
    "startbootstrap-agency",
    "startbootstrap-business-casual",
    "startbootstrap-clean-blog",
    "startbootstrap-creative",
    "startbootstrap-freelancer",
    "startbootstrap-grayscale",
    "startbootstrap-one-page-wonder",
    "startbootstrap-sb-admin-2",
    "startbootstrap-stylish-portfolio",
    "gentelella",
    "paper-kit-2",
    "now-ui-dashboard",
    "now-ui-kit",
    "reveal.js",
    "impress.js",
]

SITES = (
    *(Package(name=name, source="debian") for name in _DEBIAN),
    *(Package(name=name, source="npm") for name in _NPM),
)
