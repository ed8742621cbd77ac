#!/usr/bin/env bash
# Writes flip7/v1/*_pb2.py and their stubs from proto/flip7/v1. Needs Python 3.11 and the net; running it again leaves no diff.
set -euo pipefail
cd "$(dirname "$0")"

# The oldest generator of the protobuf versions that pyproject.toml allows: older runtimes refuse newer code.
tools=(grpcio-tools==1.72.1 protobuf==6.30.0 mypy-protobuf==3.6.0 types-protobuf==6.30.2.20250516 setuptools==80.9.0)

venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
python3 -m venv "$venv"
"$venv/bin/pip" --quiet --disable-pip-version-check install "${tools[@]}"
PATH=$venv/bin:$PATH python -m grpc_tools.protoc -I ../../proto --python_out=. --mypy_out=quiet:. \
    flip7/v1/game.proto flip7/v1/play_service.proto
