"""What several studies share: kept ranks, repeated samples, worker processes, figures."""
