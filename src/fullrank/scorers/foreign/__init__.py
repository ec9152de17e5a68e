"""Models of other libraries as scorers: implicit, Cornac, LensKit, LightFM and Surprise.

Part of `scorers`, and imported by it; no library of these is imported before its model is given.
"""
