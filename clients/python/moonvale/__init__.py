"""Stubs generated from proto/; `make proto` rebuilds them."""
