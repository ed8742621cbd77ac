"""Says in words what is missing, before the imports that fail for want of it."""

from __future__ import annotations

import os

# What grpc writes to stderr by itself says again, in many lines, what the kit says in one.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

#: The oldest that do, as in pyproject.toml.
NEEDED = {"grpcio": "1.80", "protobuf": "6.30"}

_INSTALL = "pip install " + " ".join(f"'{name}>={version}'" for name, version in NEEDED.items())

try:
    import google.protobuf
    import grpc
except ImportError as error:
    raise ImportError(f"flip7 needs grpcio and protobuf: {_INSTALL} ({error})") from error


def numbers(version: str) -> tuple[int, ...]:
    """Read what can be compared of a version: 1.80.0rc1 is (1, 80)."""
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


for _name, _has in (("grpcio", grpc.__version__), ("protobuf", google.protobuf.__version__)):
    if numbers(_has) < numbers(NEEDED[_name]):
        raise ImportError(f"flip7 needs {_name} {NEEDED[_name]} or later, this is {_has}: {_INSTALL}")
