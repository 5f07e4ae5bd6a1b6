"""Card types of Silver Eye, one module each."""
