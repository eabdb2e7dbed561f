#!/usr/bin/env bash
# Cross-builds the unit, property and conformance tests for 64-bit ARM and runs them under qemu-user.
#
#   tools/arm64.sh [CTEST_OPTION...]      such as -R TableStress
#
# The ARM libraries come from Debian into build/arm64-root, unpacked and not installed: nothing of
# them runs but under qemu. A changed list of packages makes the root anew.
#
# What it shows: that the code builds and is right with ARM's types, calls and atomic instructions.
# What it does not show: reordering. qemu carries out an ARM thread's memory accesses in x86's order.
# For that there are the arguments in src/store/slot.h, src/store/slot_array.h and
# src/store/journal.h, and TSan, which judges by C++'s memory model (make tsan).
set -euo pipefail
cd "$(dirname "$0")/.."
root=build/arm64-root

# The libraries of the daemon and of these tests; not those of programs that tests start.
wanted=$(awk '/^\[/ { on = ($0 == "[run]" || $0 == "[test]") }
              on && /^(lib.*|zlib1g)-dev$/ && !/grpc|protobuf/' tools/packages.txt | sort -u | paste -sd,)
wanted=libc6-dev,libstdc++-12-dev,$wanted
if [[ $(cat $root.packages 2>/dev/null) != "$wanted" ]]; then
  echo "arm64: fetching ARM libraries into $root"
  sources=(/etc/apt/sources.list.d/debian.sources)
  [[ -s ${sources[0]} ]] || sources=(/etc/apt/sources.list)
  options=()
  for file in /etc/apt/apt.conf.d/99*; do [[ -e $file ]] && options+=(--aptopt="$file"); done
  rm -rf $root
  mmdebstrap --quiet --architectures=arm64 --variant=extract --format=directory --include="$wanted" \
    "${options[@]}" bookworm $root "${sources[@]}"
  echo "$wanted" >$root.packages
fi
tools/build.sh arm64 unit_tests property_tests conformance_tests
ctest --preset arm64 "$@"
