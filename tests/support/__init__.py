"""What tests start and lean on: servers of the store, and how to find them."""
