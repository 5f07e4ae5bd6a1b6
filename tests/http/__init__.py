"""Tests of the HTTP port: REST, Connect, gRPC-Web, documentation."""
