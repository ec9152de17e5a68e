"""What results are written as: plain data for files, tables as text, Markdown, LaTeX and HTML.

Part of `_lib`: imports `errors` and its siblings; every folder may import it.
"""
