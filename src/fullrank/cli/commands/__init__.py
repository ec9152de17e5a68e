"""The commands, one file each, with a function of the file's name.

Part of `cli`: may import any folder; only `cli.app` imports it.
"""
