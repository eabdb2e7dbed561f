#!/usr/bin/python3
"""Builds the jar, its sources and its javadoc with Maven, puts the jar into a clean folder, and runs the examples of README.md
with what was installed, against a real daemon. Ends with 77, which ctest takes for skipped, where Maven, its registry, or SLUICE is
missing."""

import http.server
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
TEXT = (HERE / "README.md").read_text(encoding="utf-8")


def skip(why):
    print("clients.java_package: " + why)
    sys.exit(77)


def run(*words, cwd):
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        sys.exit(" ".join(map(str, words)) + "\n" + done.stdout + done.stderr)
    return done.stdout


def package(root):
    """The jar, built from a copy of this folder, in a folder that has nothing else."""
    project = root / "project"
    shutil.copytree(HERE, project, ignore=shutil.ignore_patterns("target"))
    reached = subprocess.run(["mvn", "-q", "-B", "dependency:get", "-Dartifact=jakarta.servlet:jakarta.servlet-api:6.0.0"],
                             cwd=root, capture_output=True, text=True, timeout=600)
    if reached.returncode != 0:
        skip("Maven's registry is not reachable")
    run("mvn", "-q", "-B", "package", cwd=project)
    for kind in ("", "-sources", "-javadoc"):
        name = project / "target" / ("sluice-client-0.1.0%s.jar" % kind)
        names = zipfile.ZipFile(name).namelist()
        wanted = {"": "sluice/client/SluiceClient.class", "-sources": "sluice/client/SluiceClient.java",
                  "-javadoc": "sluice/client/SluiceClient.html"}[kind]
        assert any(each == wanted or each.endswith("/" + wanted) for each in names), (name, names)
        assert not [each for each in names if "Test" in each or each.endswith(".sh")], names
    jar = root / "lib" / "sluice-client.jar"
    jar.parent.mkdir()
    shutil.copy(project / "target" / "sluice-client-0.1.0.jar", jar)
    return jar


def examples(url, api):
    """One program of all examples."""
    imports, body = set(), ""
    blocks = re.findall(r"^```java\n(.*?)^```", TEXT, re.M | re.S)
    assert len(blocks) >= 8, len(blocks)
    for block in blocks:
        imports.update(re.findall(r"^import .*;$", block, re.M))
        body += re.sub(r"^import .*;$", "", block, flags=re.M)
    # On a busy machine an answer may take longer than an example waits.
    body = (body.replace('.url("http://127.0.0.1:8080")', '.url("%s").timeout(Duration.ofSeconds(20))' % url)
            .replace("Duration.ofMillis(100)", "Duration.ofSeconds(20)").replace("https://api.example.com", api))
    return "%s\npublic class Readme {\n  public static void main(String[] arguments) throws Exception {\n%s\n  }\n}\n" % (
        "\n".join(sorted(imports)), body)


class Api(http.server.BaseHTTPRequestHandler):
    """A server that shows its limit."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("RateLimit", '"things";r=30;t=30')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def main():
    if not os.environ.get("SLUICE"):
        skip("set SLUICE to the daemon's binary")
    for command in ("javac", "mvn"):
        if shutil.which(command) is None:
            skip(command + " is not installed (Debian: openjdk-17-jdk-headless, maven)")
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        jar = package(root)
        servlet = run("bash", "-c", 'source "$0"; servlet_api', HERE / "servlet_api.sh", cwd=root).strip()
        (root / "rules.yaml").write_text(re.search(r"^```yaml\n(.*?)^```", TEXT, re.M | re.S).group(1))
        (root / "sluice.yaml").write_text('listeners: [{address: "127.0.0.1:0"}]\ntable: {keys: 1000}\n'
                                          "rule_sources: [{files: [rules.yaml]}]\n")
        api = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Api)
        threading.Thread(target=api.serve_forever, daemon=True).start()
        daemon = subprocess.Popen([os.environ["SLUICE"], "serve", "--config", "sluice.yaml"], cwd=root, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            url = next(line.split()[1] for line in daemon.stdout if line.startswith("  checks "))
            (root / "Readme.java").write_text(examples(url, "http://127.0.0.1:%d" % api.server_address[1]), encoding="utf-8")
            path = "%s:%s" % (jar, servlet)
            run("javac", "-cp", path, "-d", str(root), "Readme.java", cwd=root)
            printed = run("java", "-cp", "%s:%s" % (root, path), "Readme", cwd=root)
        finally:
            daemon.kill()
            daemon.wait()
            daemon.stdout.close()
            api.shutdown()
        for shown in re.findall(r"println\(.*\); // ([a-z0-9{].+)$", TEXT, re.M):
            assert shown in printed.splitlines(), (shown, printed)
    print("clients.java_package: the examples of README.md run with the jar")


if __name__ == "__main__":
    main()
