"""Card types, one module each; ``moonvale_engine.catalog`` is their table."""
