"""GameService over HTTP/1.1: REST with JSON, Connect and gRPC-Web on one port, all made from the descriptors."""
