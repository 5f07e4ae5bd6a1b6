"""Tests of the service: its parts one by one, and the whole over real gRPC and real servers of the store."""
