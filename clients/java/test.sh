#!/usr/bin/env bash
# clients/java/test.sh: compiles the client and its tests with javac alone, and runs them. SLUICE is the daemon's binary. The servlet
# filter is part of it where jakarta.servlet-api is found: SERVLET_API, Debian's libjakarta-servlet-api-java, or what Maven fetches.
# Ends with 77, which ctest takes for skipped, where javac or SLUICE is missing.
set -euo pipefail
cd "$(dirname "$0")"
skip() {
  echo "clients.java: $1"
  exit 77
}
command -v javac >/dev/null || skip "javac is not installed (Debian: openjdk-17-jdk-headless)"
[[ -n ${SLUICE-} ]] || skip "set SLUICE to the daemon's binary"
# shellcheck disable=SC1091  # It is checked as a file of its own.
source ./servlet_api.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
servlet=$(servlet_api)
if [[ -n $servlet ]]; then
  mapfile -t sources < <(find src -name '*.java')
else
  echo "clients.java: the servlet filter is not tested: jakarta.servlet-api is neither installed nor reachable"
  mapfile -t sources < <(find src -name '*.java' -not -path '*/servlet/*' -not -name FilterTest.java)
fi
javac --release 17 -Xlint:all -Werror -cp "$servlet" -d "$work" "${sources[@]}"
java -Dvectors=../vectors -Dservlet="$([[ -n $servlet ]] && echo true || echo false)" -cp "$work:$servlet" sluice.client.Tests
