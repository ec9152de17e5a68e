"""What pytest leaves alone among the tests of the pages."""

# Importing one, as pytest does to look for doctests, trains models and writes files.
collect_ignore_glob = ["loop_contexts/*"]
