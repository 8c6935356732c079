"""Commands of `arbitree` that call the workflow or describe its files."""
