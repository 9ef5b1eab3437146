"""Which packages the test's sites come out of; the training has none of them."""

from __future__ import annotations

from bench.qa_training.packages import Package

_DEBIAN = [
    "python-astropy-doc",
    "crossfire-doc",
    "httrack-doc",
    "lilypond-doc-html",
    "ocrmypdf-doc",
    "pelican-doc",
    "python-django-doc",
    "r-doc-html",
    "scons-doc",
    "gnuplot-doc",
    "openms-doc",
    "fltk1.3-doc",
    "gpsbabel-doc",
    "linuxcnc-doc-es",
    "nsis-doc",
    "doxygen-doc",
    "octave-doc",
    "cmake-doc",
    "python3.11-doc",
    "debian-reference-fr",
]

_NPM = [
    "startbootstrap-landing-page",
    "startbootstrap-new-age",
    "startbootstrap-resume",
    "startbootstrap-modern-business",
    "material-kit",
    "argon-design-system-free",
    "tabler-ui",
]

SITES = (
    *(Package(name=name, source="debian") for name in _DEBIAN),
    *(Package(name=name, source="npm") for name in _NPM),
)
