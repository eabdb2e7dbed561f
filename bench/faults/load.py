#!/usr/bin/env python3
"""Asks nodes the same few requests at a steady pace, on connections that stay open.

  load.py < plan      {"nodes": ["127.0.0.1:8080", ...], "rate": requests a second in all,
                       "requests": [[method, path, body], ...]}

The plan is one line. Every node is asked every request in turn, whether those before have been
answered or not. The end of standard input stops it; then it pickles one tuple for each request to
standard output: (when it was sent by the monotonic clock, seconds until its answer, node, request,
status, whether the answer says degraded). Status 0: the connection ended, or no answer came.
A process of its own, so that nothing else delays what it measures.
"""
import gc
import itertools
import json
import pickle
import select
import socket
import sys
import time

CONNECTIONS = 24  # To each node: more than ever wait for answers at once.
PATIENCE = 2.0


class Connection:
    def __init__(self, address, node):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=5)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.address, self.node = address, node
        self.asked, self.sent, self.got = None, 0.0, b""

    def send(self, number, data):
        self.asked, self.sent, self.got = number, time.monotonic(), b""
        self.socket.sendall(data)

    def receive(self):
        """The answer's (status, degraded) once it is there; status 0 at the end."""
        data = self.socket.recv(65536)
        if not data:
            return 0, False
        self.got += data
        head = self.got.find(b"\r\n\r\n")
        if head < 0:
            return None
        lower = self.got[:head].lower()
        at = lower.find(b"content-length:")
        length = int(lower[at + 15:].split(b"\r\n", 1)[0]) if at >= 0 else 0
        if len(self.got) < head + 4 + length:
            return None
        return int(self.got[9:12]), b'"degraded"' in self.got


class Load:
    def __init__(self, plan):
        self.step = 1.0 / plan["rate"]
        self.requests = [self.bytes_of(*request) for request in plan["requests"]]
        self.epoll, self.by_fd, self.free = select.epoll(), {}, []
        for node, address in enumerate(plan["nodes"]):
            self.free.append([])
            for _ in range(CONNECTIONS):
                self.add(Connection(address, node))
        self.turn = itertools.cycle(itertools.product(range(len(self.requests)),
                                                      range(len(plan["nodes"]))))
        self.samples, self.waiting = [], 0

    @staticmethod
    def bytes_of(method, path, body):
        return ("%s %s HTTP/1.1\r\nHost: load\r\nContent-Length: %d\r\n\r\n%s"
                % (method, path, len(body), body)).encode()

    def add(self, connection):
        self.by_fd[connection.socket.fileno()] = connection
        self.epoll.register(connection.socket, select.EPOLLIN)
        self.free[connection.node].append(connection)

    def drop(self, connection):
        self.epoll.unregister(connection.socket)
        del self.by_fd[connection.socket.fileno()]
        connection.socket.close()
        self.add(Connection(connection.address, connection.node))

    def ask(self):
        number, node = next(self.turn)
        if not self.free[node]:
            self.samples.append((time.monotonic(), PATIENCE, node, number, 0, False))
            return
        connection = self.free[node].pop()
        self.waiting += 1
        try:
            connection.send(number, self.requests[number])
        except OSError:
            self.note(connection, 0, False)

    def note(self, connection, status, degraded):
        if connection.asked is not None:
            self.samples.append((connection.sent, time.monotonic() - connection.sent,
                                 connection.node, connection.asked, status, degraded))
            connection.asked = None
            self.waiting -= 1
            if status:
                self.free[connection.node].append(connection)
        elif not status:
            self.free[connection.node].remove(connection)
        if not status:
            self.drop(connection)

    def run(self, stop):
        self.epoll.register(stop, select.EPOLLIN | select.EPOLLHUP)
        gc.collect()
        gc.disable()
        due = time.monotonic()
        end = None
        while end is None or (self.waiting and time.monotonic() < end):
            now = time.monotonic()
            if end is None and due <= now:
                self.ask()
                due = max(due + self.step, now - 0.05)
                continue
            wait = max(0.0, due - now) if end is None else 0.05
            for fd, _ in self.epoll.poll(wait):
                if fd == stop:
                    self.epoll.unregister(stop)
                    end = time.monotonic() + PATIENCE
                    continue
                try:
                    answer = self.by_fd[fd].receive()
                except OSError:
                    answer = 0, False
                if answer is not None:
                    self.note(self.by_fd[fd], *answer)
        for connection in self.by_fd.values():
            if connection.asked is not None:
                self.samples.append((connection.sent, PATIENCE, connection.node, connection.asked,
                                     0, False))
        return self.samples


def main():
    # Unbuffered, so that nothing behind the plan is swallowed.
    with open(0, "rb", buffering=0) as orders:
        load = Load(json.loads(orders.readline()))
        sys.stdout.buffer.write(b"\n")  # It begins.
        sys.stdout.buffer.flush()
        samples = load.run(orders.fileno())
    pickle.dump(samples, sys.stdout.buffer)


if __name__ == "__main__":
    main()
