"""Figures of the documentation, computed from the rows beside them: what scripts/result-pages runs."""
