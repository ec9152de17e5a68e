"""The published tables of Li et al. 2020."""

from __future__ import annotations

from pathlib import Path

from reproduction.common.kept import sections

_TABLES = sections(Path(__file__).with_suffix(".txt"))
MAPPED = ("bound", "beta@1", "beta@0.5")

# Table 2: the parameter a, fitted to samples of 100; "yelp" is not yelp-diffnet
BETA_DATA = ("ml-1m", "yelp", "pinterest-20-part", "citeulike-a")
BETA = {
    "NeuMF": (0.3685, 0.3059, 0.2820, 0.2601),
    "MultiVAE": (0.3681, 0.2977, 0.2764, 0.2449),
    "EASE": (0.3684, 0.2972, 0.2806, 0.2532),
    "itemKNN": (0.4079, 0.2885, 0.2782, 0.2519),
}

# Tables 5 and 6, MultiVAE on ml-1m: k, SHR@k, and HR@f(k) for each of MAPPED
SCHEMES: dict[int, dict[str, tuple[tuple[float, ...], ...]]] = {}
for _n, _scheme, _k, *_values in _TABLES["Tables 5 and 6"]:
    _rows = SCHEMES.setdefault(int(_n), {})
    _row = (int(_k), *map(float, _values))
    _rows[_scheme.replace("_", " ")] = (*_rows.get(_scheme.replace("_", " "), ()), _row)

# Table 7: the distance of HR@f(k) from SHR@k
ERRORS = ("abs", "rel", "abs@1", "rel@1", "abs@2-10", "rel@2-10")
MAPPINGS: dict[tuple[str, str], dict[str, tuple[float, ...]]] = {}
for _data, _model, _function, *_values in _TABLES["Table 7"]:
    MAPPINGS.setdefault((_data, _model), {})[_function] = tuple(map(float, _values))

# Table 4: users and items
SIZES = {
    "ml-1m": (6_040, 3_706),
    "pinterest-20-part": (55_187, 9_916),
    "citeulike-a": (5_551, 16_980),
    "yelp": (25_677, 25_815),
    "book-crossing": (11_325, 139_331),
}
