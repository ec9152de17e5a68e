"""From any file or frame to columns by role: formats, archives, column names, external ids.

It knows none of the library's types. Imports `_lib`; every folder to its right may import it.
"""
