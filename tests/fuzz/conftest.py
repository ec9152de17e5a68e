"""The targets lie beside the tests and are shared with `benchmarks/fuzz.py`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
