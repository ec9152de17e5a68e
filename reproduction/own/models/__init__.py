"""Models trained on public data sets, beside published results where there are any."""
