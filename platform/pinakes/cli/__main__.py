"""`python -m pinakes.cli` is `pinakes`."""

import sys

from pinakes.cli import main

if __name__ == "__main__":
    sys.exit(main())
