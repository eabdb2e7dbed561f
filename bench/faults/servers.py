"""Redis servers for a while: on free ports of the loopback, with their files in one folder."""
import ctypes
import os
import signal
import socket
import subprocess
import time

PR_SET_PDEATHSIG = 1


def free_port():
    """One that nobody had a moment ago: redis-server does not say which it was given."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def until(what, limit=20.0, every=0.01):
    """What `what` says once it says something."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        got = what()
        if got:
            return got
        time.sleep(every)
    raise TimeoutError("did not happen within %s s" % limit)


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Processes:
    """Whatever was started, to be ended by its id whatever happens."""

    def __init__(self):
        self.started = []

    def start(self, words, **more):
        process = subprocess.Popen(words, preexec_fn=die_with_parent, **more)
        self.started.append(process)
        return process

    def end(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.wait()
        self.started = []


class RedisError(Exception):
    """An error reply."""


class Client:
    """One connection, made when it is needed; OSError where there is none to be had."""

    def __init__(self, port):
        self.port, self.socket, self.file = port, None, None

    def run(self, *words):
        try:
            if self.socket is None:
                self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=5)
                self.file = self.socket.makefile("rb")
            words = [str(word).encode() for word in words]
            self.socket.sendall(b"*%d\r\n" % len(words) + b"".join(
                b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
            return self.read()
        except OSError:
            self.close()
            raise

    def read(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("it hung up")
        kind, rest = line[:1], line[1:-2].decode()
        if kind == b"-":
            raise RedisError(rest)
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == "-1" else self.file.read(int(rest) + 2)[:-2].decode()
        if kind == b"*":
            return [self.read() for _ in range(int(rest))]
        return rest

    def close(self):
        if self.socket is not None:
            self.file.close()
            self.socket.close()
        self.socket = self.file = None


class Server:
    """A redis-server, or a Sentinel if `conf` says so."""

    def __init__(self, processes, folder, conf, sentinel=False):
        self.processes, self.port = processes, free_port()
        self.folder = folder / ("redis%d" % self.port)
        self.folder.mkdir()
        self.conf, self.sentinel = self.folder / "redis.conf", sentinel
        self.conf.write_text("port %d\nbind 127.0.0.1\ndir %s\n%s" % (self.port, self.folder, conf))
        self.process, self.client = None, Client(self.port)
        self.start()

    def start(self):
        words = ["redis-server", str(self.conf)] + (["--sentinel"] if self.sentinel else [])
        with open(self.folder / "log", "a") as log:
            self.process = self.processes.start(words, stdout=log, stderr=log)
        until(lambda: self.says("PING") == "PONG", every=0.001)

    def run(self, *words):
        """The reply; a connection that ended since the last one is no failure."""
        try:
            return self.client.run(*words)
        except OSError:
            return self.client.run(*words)

    def says(self, *words):
        """The reply, or nothing where there is none or an error."""
        try:
            return self.run(*words)
        except (OSError, RedisError):
            return None

    def info(self, section, field):
        text = self.says("INFO", section) or ""
        found = [line.split(":", 1)[1] for line in text.splitlines() if line.startswith(field + ":")]
        return found[0] if found else ""

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.client.close()

    def takes_writes(self, key):
        return self.says("SET", key, "1", "PX", "1000") == "OK"

    def used(self, key):
        """Units used of a fixed window, as docs/redis.md says; a replica is asked as well."""
        self.says("READONLY")
        value = self.says("GET", key)
        return int(value.split()[0]) if value else 0
