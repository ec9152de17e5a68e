"""Plain arrays in, intervals and tests out: means, shares, paired tests, sample sizes.

Part of `inference`, below its other folders: imports `_lib` to `estimators`, none of these.
"""
