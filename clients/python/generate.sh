#!/usr/bin/env bash
# Writes flip7/v1/*_pb2.py and their stubs from proto/flip7/v1; running it again leaves no diff. Needs Python 3.9 to 3.13, and
# the net the first time.
set -euo pipefail
cd "$(dirname "$0")"

# The oldest generator of the protobuf versions that pyproject.toml allows: older runtimes refuse newer code.
tools=(grpcio-tools==1.72.1 protobuf==6.30.0 mypy-protobuf==3.6.0 types-protobuf==6.30.2.20250516 setuptools==80.9.0)

kept=${XDG_CACHE_HOME:-$HOME/.cache}/flip7-arena/python/generate-$(cksum <generate.sh | cut -d ' ' -f 1)
if [[ ! -e $kept/ready ]]; then
    python3 -m venv --clear "$kept"
    "$kept/bin/pip" --quiet --disable-pip-version-check install --only-binary :all: "${tools[@]}"
    touch "$kept/ready"
fi
PATH=$kept/bin:$PATH python -m grpc_tools.protoc -I ../../proto --python_out=. --mypy_out=quiet:. \
    flip7/v1/game.proto flip7/v1/play_service.proto
