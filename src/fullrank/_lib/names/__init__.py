"""Registries that users can add to, and the plug-ins that do so.

Part of `_lib`: imports `errors` and its siblings; every folder may import it.
"""
