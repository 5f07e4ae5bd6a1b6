"""Vectors that every client's tests run: messages as JSON and binary, and JSON that is to be taken or refused."""
