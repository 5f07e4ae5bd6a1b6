"""The benchmark: engine, service, memory and growth, measured side by side with peers: ``make bench``."""
