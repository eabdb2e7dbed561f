#!/usr/bin/env bash
# Checks the files for containers, without an engine or a cluster: the chart by helm and, rendered,
# by Kubernetes' own schemas; the daemon's configuration in it by the daemon; the Dockerfile by
# hadolint; the compose file by Compose's schema.
#
#   packaging/check_container.sh [SLUICE]     SLUICE: the program (build/release/bin/sluice)
set -euo pipefail
cd "$(dirname "$0")/.."
sluice=$(realpath "${1:-build/release/bin/sluice}")
[[ -x $sluice ]] || { echo "check_container: there is no $sluice: build it first, or name it" >&2; exit 1; }
packaging/fetch_tools.sh
tools=$PWD/build/tools
chart=packaging/helm/sluice
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

render() { "$tools/bin/helm" template try $chart --kube-version "$@"; }
conforms() {  # KUBERNETES VERSION, then helm's options.
  local version=$1
  shift
  "$tools/bin/helm" lint --quiet --strict --kube-version "$version" "$@" $chart
  render "$version" "$@" >"$place/$version.yaml"
  echo "Kubernetes $version ${*-}:"
  "$tools/bin/kubeconform" -summary -strict -kubernetes-version "$version" \
    -schema-location "$tools/schemas/{{ .NormalizedKubernetesVersion }}-local{{ .StrictSuffix }}/{{ .ResourceKind }}{{ .KindSuffix }}.json" \
    -schema-location "$tools/schemas/{{ .ResourceKind }}{{ .KindSuffix }}.json" "$place/$version.yaml"
}
conforms 1.25.0 --set preStopSleepSeconds=0
conforms 1.33.0
for values in "$chart"/ci/*.yaml; do conforms 1.37.0 --values "$values"; done

refuses() {  # A WORD OF THE MESSAGE, then helm's options.
  local word=$1
  shift
  if render 1.33.0 "$@" >"$place/refused" 2>&1 || ! grep -q "$word" "$place/refused"; then
    echo "the chart is to refuse $* by a message with $word:"
    cat "$place/refused"
    exit 1
  fi
}
refuses perPodLimits --set replicas=2
refuses existingClaim --set replicas=2,redis.address=redis.example,persistence.existingClaim=a
refuses adress --set redis.adress=redis.example
refuses listeners --set extraConfig.listeners=a

# Changed rules are followed by the pods that run; a changed configuration takes new ones.
deployment() { render 1.33.0 --show-only templates/deployment.yaml "$@"; }
deployment >"$place/before.yaml"
deployment --set-string 'rules.other\.yaml=rules: []' | cmp - "$place/before.yaml" ||
  { echo "a changed rule would restart the pods"; exit 1; }
if deployment --set extraConfig.log.level=debug | cmp -s - "$place/before.yaml"; then
  echo "a changed configuration would not reach the pods"
  exit 1
fi

# What the daemon would read in a pod, with the paths moved here.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=authority \
  -keyout "$place/ca.key" -out "$place/ca.crt" 2>/dev/null
for values in /dev/null "$chart"/ci/*.yaml; do
  rm -rf "$place/pod"
  mkdir -p "$place"/pod/{redis,resp,tls}
  render 1.33.0 --values "$values" |
    python3 -c '
import pathlib, sys, yaml
place = pathlib.Path(sys.argv[1])
for part in yaml.safe_load_all(sys.stdin):
    if part and part["kind"] == "ConfigMap":
        folder = place / part["metadata"]["name"].removeprefix("try-")
        folder.mkdir()
        for name, text in part["data"].items():
            (folder / name).write_text(text.replace("/etc/sluice/", str(place) + "/"))
' "$place/pod"
  cp "$place/ca.crt" "$place/pod/tls/"
  echo secret | tee "$place/pod/redis/password" >"$place/pod/resp/password"
  "$sluice" validate "$place/pod/config/sluice.yaml"
done
for config in packaging/etc/sluice.yaml packaging/compose/sluice.yaml packaging/image/sluice.yaml; do
  "$sluice" validate $config | grep -v 'matches no file'
done

"$tools/bin/hadolint" --failure-threshold style packaging/Dockerfile
echo "Dockerfile: hadolint has nothing to say"
python3 - "$tools/schemas/compose-spec.json" packaging/compose/compose.yaml <<'PYTHON'
import json, sys, jsonschema, yaml
with open(sys.argv[1]) as schema, open(sys.argv[2]) as file:
    jsonschema.validate(yaml.safe_load(file), json.load(schema))
print("compose.yaml: valid by Compose's schema")
PYTHON
# What the Dockerfile installs is what the package asks for.
for deb in build/deb/sluice_*.deb; do
  [[ -e $deb ]] || { echo "Dockerfile: its libraries were not compared with the package's: make deb first"; break; }
  for library in $(dpkg-deb -f "$deb" Depends | tr ',' '\n' | sed 's/|.*//; s/(.*//; s/ //g' | grep -E '^(lib|zlib|tzdata)'); do
    tr -s ' ' '\n' <packaging/Dockerfile | grep -qxF "$library" || { echo "Dockerfile: it does not install $library"; exit 1; }
  done
done
