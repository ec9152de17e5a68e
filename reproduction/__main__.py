"""``python -m reproduction``: list the studies or run one."""

import sys

from reproduction.runner import main

if __name__ == "__main__":
    sys.exit(main())
