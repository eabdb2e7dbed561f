#!/usr/bin/env python3
"""Adds a health check to an image of an OCI layout: add_health_check.py LAYOUT TAG

The OCI specification reserves `Healthcheck` in an image's configuration for engines that know it, as
Docker and Podman do; umoci has no option for it. A blob is named by its digest, so the configuration,
the manifest and the index are written anew.
"""
import hashlib
import json
import pathlib
import sys

SECOND = 1_000_000_000  # The times are in nanoseconds.
CHECK = {"Test": ["CMD", "/usr/bin/sluice", "health", "--quiet"], "Interval": 10 * SECOND,
         "Timeout": 5 * SECOND, "StartPeriod": 60 * SECOND, "Retries": 3}


def main():
    layout, tag = pathlib.Path(sys.argv[1]), sys.argv[2]

    def blob(descriptor):
        return layout / "blobs" / descriptor["digest"].replace(":", "/")

    def put(value, descriptor):
        data = json.dumps(value, separators=(",", ":")).encode()
        descriptor.update(digest="sha256:" + hashlib.sha256(data).hexdigest(), size=len(data))
        blob(descriptor).write_bytes(data)

    index = json.loads((layout / "index.json").read_text())
    found = [entry for entry in index["manifests"]
             if entry.get("annotations", {}).get("org.opencontainers.image.ref.name") == tag]
    if len(found) != 1:
        sys.exit(f"add_health_check: {layout} has {len(found)} images of the tag {tag}")
    manifest = json.loads(blob(found[0]).read_text())
    config = json.loads(blob(manifest["config"]).read_text())
    config["config"]["Healthcheck"] = CHECK
    put(config, manifest["config"])
    put(manifest, found[0])
    (layout / "index.json").write_text(json.dumps(index))


if __name__ == "__main__":
    main()
