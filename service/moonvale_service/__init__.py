"""The edge: gRPC, the store, credentials and clocks around the engine."""
