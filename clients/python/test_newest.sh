#!/usr/bin/env bash
# clients/python/test_newest.sh DIR: the tests with the packages that environment.sh put into DIR. Ends with 77 if it could not.
set -euo pipefail
if [[ ! -e $1/versions.txt ]]; then
  echo "clients.python_newest: skipped, as clients.python_environment was"
  exit 77
fi
exec "$1/bin/python" "$(dirname "$0")/test"
