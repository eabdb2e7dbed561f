#!/usr/bin/env bash
# Everything that reads our code without running it. See `make lint` and `make format`.
#
#   tools/lint.sh                 all of the below
#   tools/lint.sh format          rewrite all C++ by .clang-format
#   tools/lint.sh style           clang-format, shellcheck, layers, documents: seconds
#   tools/lint.sh headers         every header compiles alone
#   tools/lint.sh tidy [FILE...]  clang-tidy over these files, or all of ours: hours
#                                 (CLANG_TIDY=clang-tidy-22, which passes over system headers, takes
#                                 some two thirds of the time)
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=$(nproc)
clang_tidy=${CLANG_TIDY:-clang-tidy-19}
database=build/fuzz  # Made by clang, so that clang-tidy knows every flag in it.

ours() {  # All our files of the given suffixes.
  local folders=()
  for folder in include src apps tests bench fuzz examples clients; do
    [[ -d $folder ]] && folders+=("$folder")
  done
  find "${folders[@]}" -type f \( -name "*.$1" -o -name "*.${2:-$1}" \) | sort
}

style() {
  ours cc h | xargs clang-format-19 --dry-run -Werror
  if command -v shellcheck >/dev/null; then
    { grep -rlE '^#!.*\b(ba)?sh$' --exclude-dir=build --exclude-dir=.git . || true; } | xargs -r shellcheck
  else
    echo "lint: no shellcheck here, shell scripts were not checked"
  fi
  tools/check_layers.py .
  tools/check_docs.py .
}

headers() {  # A header that leans on its includer's includes breaks the next includer.
  # shellcheck disable=SC2016  # The inner shell expands.
  ours h | xargs -P "$jobs" -I{} sh -c \
    'echo "#include \"$1\"" | g++ -std=c++20 -fsyntax-only -Iinclude -Isrc -Itests -Iclients/cpp/include -I. -x c++ -' _ {}
  echo "lint: $(ours h | wc -l) headers compile alone"
}

tidy() {
  [[ -f $database/compile_commands.json ]] || { echo "lint: run cmake --preset fuzz first" >&2; exit 1; }
  local files=("$@")
  [[ $# -gt 0 ]] || mapfile -t files < <(in_database)
  printf '%s\n' "${files[@]}" |
    xargs -P "$jobs" -n 1 "$clang_tidy" -p "$database" --quiet 2> >(grep -v 'warnings\? generated' >&2)
  echo "lint: clang-tidy is content with ${#files[@]} files"
}

in_database() {
  python3 - "$database/compile_commands.json" "$PWD" <<'PY'
import json, pathlib, sys
root = pathlib.Path(sys.argv[2])
files = {pathlib.Path(c["file"]) for c in json.load(open(sys.argv[1]))}
print("\n".join(sorted(str(f.relative_to(root)) for f in files
                       if f.is_relative_to(root) and not f.is_relative_to(root / "build"))))
PY
}

case ${1:-all} in
  format) ours cc h | xargs clang-format-19 -i ;;
  style) style ;;
  headers) headers ;;
  tidy) shift; tidy "$@" ;;
  all) style; headers; tidy ;;
  *) sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
