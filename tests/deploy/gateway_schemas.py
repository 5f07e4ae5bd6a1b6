"""Schemas of the Gateway API's objects, as far as deploy/kubernetes uses them, closed: the API's own are in no package.

Source: the definitions of gateway.networking.k8s.io/v1 in the Gateway API 1.4. A field that isn't here is an error.
"""

from __future__ import annotations

from typing import Any, Final

Schema = dict[str, Any]

_NAME: Final[Schema] = {"type": "string", "pattern": r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", "maxLength": 253}
_HOST: Final[Schema] = {
    "type": "string",
    "pattern": r"^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
}
_PORT: Final[Schema] = {"type": "integer", "minimum": 1, "maximum": 65535}
_DURATION: Final[Schema] = {"type": "string", "pattern": r"^([0-9]{1,5}(h|m|s|ms)){1,4}$"}


def _closed(required: str = "", **properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": required.split(),
        "additionalProperties": False,
    }


def _list(of: Schema, most: int = 16) -> Schema:
    return {"type": "array", "items": of, "minItems": 1, "maxItems": most}


def _object(kind: str, spec: Schema) -> Schema:
    metadata = _closed("name namespace", name=_NAME, namespace=_NAME, labels={"type": "object"})
    return _closed(
        "apiVersion kind metadata spec",
        apiVersion={"const": "gateway.networking.k8s.io/v1"},
        kind={"const": kind},
        metadata=metadata,
        spec=spec,
    )


_REFERENCE: Final = _closed(
    "kind name", group={"const": ""}, kind={"enum": ["Secret", "ConfigMap", "Service"]}, name=_NAME
)
_BACKEND: Final = _closed("name port", name=_NAME, port=_PORT)
_PARENTS: Final = _list(_closed("name", name=_NAME, sectionName=_NAME), 32)

_LISTENER: Final = _closed(
    "name port protocol",
    name=_NAME,
    protocol={"enum": ["HTTP", "HTTPS", "TLS", "TCP", "UDP"]},
    port=_PORT,
    hostname=_HOST,
    tls=_closed("certificateRefs", mode={"enum": ["Terminate", "Passthrough"]}, certificateRefs=_list(_REFERENCE, 64)),
    allowedRoutes=_closed(
        namespaces=_closed("from", **{"from": {"enum": ["All", "Selector", "Same"]}}),
        kinds=_list(_closed("kind", kind={"enum": ["HTTPRoute", "GRPCRoute"]}), 8),
    ),
)

SCHEMAS: Final[dict[str, Schema]] = {
    "Gateway": _object(
        "Gateway", _closed("gatewayClassName listeners", gatewayClassName=_NAME, listeners=_list(_LISTENER, 64))
    ),
    "GRPCRoute": _object(
        "GRPCRoute",
        _closed(
            "parentRefs rules",
            parentRefs=_PARENTS,
            hostnames=_list(_HOST),
            rules=_list(
                _closed(
                    "backendRefs",
                    matches=_list(
                        _closed(method=_closed("service", service={"type": "string", "pattern": r"^[\w.]+$"})), 64
                    ),
                    backendRefs=_list(_BACKEND),
                )
            ),
        ),
    ),
    "HTTPRoute": _object(
        "HTTPRoute",
        _closed(
            "parentRefs rules",
            parentRefs=_PARENTS,
            hostnames=_list(_HOST),
            rules=_list(
                _closed(
                    "backendRefs",
                    matches=_list(
                        _closed(
                            path=_closed(
                                "type value",
                                type={"enum": ["Exact", "PathPrefix", "RegularExpression"]},
                                value={"type": "string", "pattern": "^/"},
                            )
                        ),
                        64,
                    ),
                    timeouts=_closed(request=_DURATION, backendRequest=_DURATION),
                    backendRefs=_list(_BACKEND),
                )
            ),
        ),
    ),
    "BackendTLSPolicy": _object(
        "BackendTLSPolicy",
        _closed(
            "targetRefs validation",
            targetRefs=_list(_REFERENCE),
            validation=_closed("hostname caCertificateRefs", hostname=_HOST, caCertificateRefs=_list(_REFERENCE, 8)),
        ),
    ),
}
