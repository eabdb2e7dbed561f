#!/usr/bin/env bash
# Runs the image of packaging/build_image.sh as an engine would: read-only, as its own user, with no
# capability, in namespaces of its own, with the /dev/shm of 64 MiB that containers have. Needs root,
# umoci and runc.
set -euo pipefail
cd "$(dirname "$0")/.."
for tool in umoci runc; do
  command -v $tool >/dev/null || { echo "try_image: $tool is missing (tools/setup.sh package)" >&2; exit 1; }
done
tag=$(python3 -c 'import json
for entry in json.load(open("build/image/oci/index.json"))["manifests"]:
    print(entry["annotations"]["org.opencontainers.image.ref.name"])')
place=$(mktemp -d /var/tmp/sluice-image.XXXXXX)
name=sluice-try-$$
finish() {
  runc kill $name KILL 2>/dev/null || true
  [[ -z ${container-} ]] || wait "$container" || true
  runc delete --force $name 2>/dev/null || true
  rm -rf --one-file-system "$place"
}
trap finish EXIT

umoci unpack --image "build/image/oci:$tag" "$place/bundle"
programs=$(find "$place/bundle/rootfs" -path '*bin/*' -type f -printf '%P ')
[[ $programs == "usr/bin/sluice " ]] || { echo "try_image: there is more than the daemon in it: $programs"; exit 1; }
install -d "$place/rules.d"
cp packaging/etc/rules.d/example.yaml "$place/rules.d/"
install -d -o 65532 -g 65532 -m 700 "$place/state"
python3 - "$place" <<'PYTHON'
import json, pathlib, sys
place = pathlib.Path(sys.argv[1])
file = place / "bundle/config.json"
config = json.loads(file.read_text())
process = config["process"]
assert process["user"]["uid"] == 65532, process["user"]
assert process["args"] == ["/usr/bin/sluice", "serve", "--config", "/etc/sluice/sluice.yaml"], process["args"]
process.update(terminal=False, noNewPrivileges=True,
               capabilities={kind: [] for kind in ("bounding", "effective", "inheritable", "permitted", "ambient")})
config["root"]["readonly"] = True
config["mounts"] = [mount for mount in config["mounts"] if mount["destination"] not in ("/var/lib/sluice", "/etc/resolv.conf")]
config["mounts"] += [
    {"destination": "/etc/sluice/rules.d", "type": "bind", "source": str(place / "rules.d"), "options": ["rbind", "ro"]},
    {"destination": "/var/lib/sluice", "type": "bind", "source": str(place / "state"), "options": ["rbind", "rw"]}]
shm = [mount for mount in config["mounts"] if mount["destination"] == "/dev/shm"]
assert "size=65536k" in shm[0]["options"], shm
file.write_text(json.dumps(config))
PYTHON

runc run --bundle "$place/bundle" $name >"$place/out" 2>"$place/log" &
container=$!
inside() { runc exec --user 65532:65532 $name /usr/bin/sluice "$@"; }
for _ in $(seq 300); do
  inside health --quiet 2>/dev/null && break
  kill -0 $container 2>/dev/null || { cat "$place/out" "$place/log"; echo "try_image: it ended"; exit 1; }
  sleep 0.1
done
# The health check as the image has it.
mapfile -t check < <(skopeo inspect --config --raw "oci:build/image/oci:$tag" |
  python3 -c 'import json, sys; print("\n".join(json.load(sys.stdin)["config"]["Healthcheck"]["Test"][1:]))')
runc exec --user 65532:65532 $name "${check[@]}"
echo "health check: ${check[*]}: ready"
answers=
for _ in 1 2 3 4; do
  if answer=$(inside check user_id=u endpoint=/example); then answers+="yes "; else answers+="no "; fi
done
echo "four checks of the example rule: $answers"
[[ $answers == "yes yes yes no " ]] || { echo "$answer"; cat "$place/log"; exit 1; }
sed -i 's/limit: 3/limit: 4/' "$place/rules.d/example.yaml"
reloaded=
for _ in $(seq 100); do
  if inside check user_id=u endpoint=/example >/dev/null; then reloaded=yes && break; fi
  sleep 0.1
done
[[ -n $reloaded ]] || { cat "$place/log"; echo "try_image: the changed rule did not take effect"; exit 1; }
echo "a changed rule: in force without a restart"
echo "in /dev/shm: $(du -m "/proc/$(runc state $name | sed -n 's/.*"pid": \([0-9]*\).*/\1/p')/root/dev/shm/sluice.table")"
runc kill $name TERM
wait $container && status=0 || status=$?
container=
[[ $status -eq 0 ]] || { cat "$place/log"; echo "try_image: it ended with $status"; exit 1; }
[[ -n $(find "$place/state" -name '*.snapshot') ]] || { echo "try_image: it left no snapshot"; exit 1; }
echo "SIGTERM: exit 0, and a snapshot in its folder"
