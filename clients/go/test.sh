#!/usr/bin/env bash
# clients/go/test.sh [MODULE]: formatting, `go vet`, and all tests under the race detector, of the module here or of MODULE, a
# folder below. SLUICE is the daemon's binary. Ends with 77, which ctest takes for skipped, where go is missing, or where the
# module proxy does not have what go.mod lists.
set -euo pipefail
cd "$(dirname "$0")/${1-}"
skip() {
  echo "clients.go: $1"
  exit 77
}
export GOWORK=off GOFLAGS="${GOFLAGS-} -modcacherw"
command -v go >/dev/null || skip "go is not installed (Debian: golang-go)"
if [[ -e go.sum ]]; then
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  timeout 600 go mod download 2>"$log" || skip "the module proxy does not have what go.mod lists: $(tail -n 1 "$log")"
fi
unformatted=$(gofmt -l .)
[[ -z $unformatted ]] || { echo "run gofmt -w on $unformatted"; exit 1; }
go vet ./...
race=(-race)
[[ $(go env CGO_ENABLED) == 1 ]] || race=() # It needs a C compiler.
go test "${race[@]}" ./...
