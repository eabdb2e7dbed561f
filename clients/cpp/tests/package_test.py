#!/usr/bin/env python3
"""Installs the C++ client from an archive of its folder, and builds and runs README's program with it.

    SLUICE=PATH clients/cpp/tests/package_test.py
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parents[1]
README = (HERE / "README.md").read_text(encoding="utf-8")
CONSUMER = """cmake_minimum_required(VERSION 3.20)
project(consumer LANGUAGES CXX)
find_package(sluice_client 1 REQUIRED)
add_executable(consumer main.cc)
target_link_libraries(consumer PRIVATE sluice::client)
"""


def blocks(language):
    return re.findall(r"```%s\n(.*?)```" % language, README, re.S)


def run(*command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode != 0:
        raise AssertionError("%s\n%s" % (" ".join(map(str, command)), done.stdout))
    return done.stdout


class PackageTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def daemon(self):
        """Starts a daemon with README's rules: its URL."""
        (self.root / "rules.yaml").write_text(blocks("yaml")[0])
        (self.root / "sluice.yaml").write_text(
            'listeners: [{address: "127.0.0.1:0"}]\ntable: {keys: 1000}\nrule_sources: [{files: [rules.yaml]}]\n')
        process = subprocess.Popen([os.environ["SLUICE"], "serve", "--config", "sluice.yaml"], cwd=self.root,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        for line in process.stdout:
            found = re.match(r"  checks\s+(http://\S+)", line)
            if found:
                return found.group(1)
        raise AssertionError("the daemon did not start")

    def program(self):
        text = "".join(blocks("cpp"))
        url = self.daemon()
        text = text.replace("Client client;", 'Client client([] { sluice_client::ClientOptions o; o.url = "%s"; '
                            "o.timeout = 20s; return o; }());" % url)
        return text.replace("login.timeout = 100ms;", 'login.timeout = 20s; login.url = "%s";' % url)

    def check_output(self, output):
        for line in ("go on, 9 left", "2 decisions", "200", "refused by a limit: retry-after says 12.000 s"):
            self.assertIn(line + "\n", output)
        self.assertRegex(output, r"held for \d+ ms: the quota is used up: ratelimit says 5\.000 s")

    def test_one_header_is_all_that_a_program_needs(self):
        (self.root / "main.cc").write_text(self.program())
        run(HERE / "single_header", self.root / "sluice_client.h")
        run("c++", "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror", "main.cc",
            "-o", "main", "-pthread", cwd=self.root)
        self.check_output(run("./main", cwd=self.root))

    def test_it_is_installed_from_its_archive(self):
        archive = shutil.make_archive(str(self.root / "sluice_client"), "gztar", HERE.parent, "cpp")
        shutil.unpack_archive(archive, self.root / "source")
        installed = self.root / "installed"
        run("cmake", "-S", self.root / "source" / "cpp", "-B", self.root / "build")
        run("cmake", "--build", self.root / "build")
        run("cmake", "--install", self.root / "build", "--prefix", installed)
        shutil.rmtree(self.root / "source")
        consumer = self.root / "consumer"
        consumer.mkdir()
        (consumer / "CMakeLists.txt").write_text(CONSUMER)
        (consumer / "main.cc").write_text(self.program())
        run("cmake", "-S", consumer, "-B", consumer / "build", "-DCMAKE_PREFIX_PATH=%s" % installed)
        run("cmake", "--build", consumer / "build")
        self.check_output(run(consumer / "build" / "consumer"))


if __name__ == "__main__":
    if "SLUICE" not in os.environ:
        print("skipped: set SLUICE to the daemon's binary")
        sys.exit(77)
    unittest.main()
