"""``python -m fullrank`` is the ``fullrank`` command."""

import sys

from fullrank.cli import main

if __name__ == "__main__":
    sys.exit(main())
