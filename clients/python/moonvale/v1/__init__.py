"""Stubs generated from proto/moonvale/v1; `make proto` rebuilds them."""
