"""A hundred candidates on the sealed data sets: the last judgement.

Nothing may be chosen after this has run: a setting that looks at these results makes the data sets
tuning sets, and new ones must be sealed.
"""

from __future__ import annotations

import argparse
from typing import Any

from fullrank.errors import InputError
from reproduction.own.bank import hundred
from reproduction.own.bank.data_sets import SEALED

REPEATS = 100
options = hundred.options


def study(asked: argparse.Namespace) -> dict[str, Any]:
    if asked.quick:
        raise InputError("`quick` must be left out: sealed data sets are not opened for a trial.")
    return hundred.measured(asked, SEALED, sealed=True)
