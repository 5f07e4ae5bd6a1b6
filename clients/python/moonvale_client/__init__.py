"""Clients over the generated stubs: retries, resumable watches, an agent loop."""
