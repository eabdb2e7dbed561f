#!/usr/bin/env python3
"""What a fleet answers while its Redis has trouble: three daemons over real servers under a steady
load, fault by fault, and a table of it. Exit code 1 if a bound of docs/redis.md is broken; lines
below the table say which.

  SLUICE=build/bench/bin/sluice bench/redis_faults.py [NAME...]     NAME: part of a row's name
"""
import os
import pathlib
import signal
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "faults"))
from fleet import DEADLINE_MS, NODES  # noqa: E402
from row import Row  # noqa: E402
from servers import Processes, until  # noqa: E402
from setups import Cluster, Plain, Proxied, Sentinels  # noqa: E402

LASTS = 2.0  # Seconds, of a fault that has no time of its own.


# The faults, each done for real. `begins()` before it, `returns()` once it is over.

def nothing_fails(setup, row):
    row.begins()
    time.sleep(LASTS)
    row.returns(setup.primary)


def paused(seconds):
    def fault(setup, row):
        row.begins()
        setup.primary.signal(signal.SIGSTOP)
        time.sleep(seconds)
        setup.primary.signal(signal.SIGCONT)
        row.returns(setup.primary)
    return fault


def killed(keeps):
    def fault(setup, row):
        if keeps:
            setup.primary.run("CONFIG", "SET", "appendonly", "yes")
            setup.primary.conf.write_text(
                setup.primary.conf.read_text().replace("appendonly no", "appendonly yes"))
            until(lambda: setup.primary.info("persistence", "aof_rewrite_in_progress") == "0")
        row.begins()
        setup.primary.kill()
        killed_at = time.monotonic()
        time.sleep(LASTS)
        if not keeps:
            row.loses_what({}, killed_at + 0.05)
        setup.primary.start()
        row.returns(setup.primary)
        if keeps:
            setup.primary.run("CONFIG", "SET", "appendonly", "no")
            setup.primary.conf.write_text(
                setup.primary.conf.read_text().replace("appendonly yes", "appendonly no"))
    return fault


def configured(wrong, right):
    def fault(setup, row):
        row.begins()
        for words in wrong:
            setup.primary.run(*words)
        time.sleep(LASTS)
        for words in right:
            setup.primary.run(*words)
        row.returns(setup.primary)
    return fault


def disk_full(setup, row):
    """Something stands where its file should be, so it takes no writes that it cannot save."""
    file = setup.primary.folder / "dump.rdb"

    def save(status):
        until(lambda: setup.primary.info("persistence", "rdb_bgsave_in_progress") == "0")
        setup.primary.says("BGSAVE")
        until(lambda: setup.primary.info("persistence", "rdb_last_bgsave_status") == status
              and setup.primary.info("persistence", "rdb_bgsave_in_progress") == "0", every=0.002)
    file.mkdir()
    setup.primary.run("CONFIG", "SET", "save", "3600 1000000")
    row.begins()
    save("err")
    time.sleep(LASTS)
    file.rmdir()
    save("ok")
    row.returns(setup.primary)
    setup.primary.run("CONFIG", "SET", "save", "")


def wrong_password(setup, row):
    row.begins()
    setup.primary.run("ACL", "SETUSER", "sluice", "resetpass", ">another")
    setup.primary.run("CLIENT", "KILL", "USER", "sluice")
    time.sleep(LASTS)
    setup.password.write_text("another\n")
    row.returns(setup.primary)
    setup.primary.run("ACL", "SETUSER", "sluice", ">secret")
    setup.password.write_text("secret\n")


def scripts_flushed(setup, row):
    row.begins()
    end = time.monotonic() + LASTS
    while time.monotonic() < end:
        setup.primary.run("SCRIPT", "FLUSH")
        time.sleep(0.02)
    row.returns(setup.primary)


def slow(least, most):
    def fault(setup, row):
        row.begins()
        setup.tell(delay_ms=[least, most])
        time.sleep(LASTS)
        setup.tell(delay_ms=[0, 0])
        row.returns(setup.primary)
    return fault


def cut_within_replies(setup, row):
    row.begins()
    end = time.monotonic() + LASTS
    cut = 0
    while time.monotonic() < end:
        cut += 1
        setup.tell(cut_after=37 * cut % 101 + 1)
        time.sleep(0.05)
    row.returns(setup.primary)


def stale_replica_promoted(setup, row):
    """The address stays, the server behind it lacks what was written for half a second."""
    setup.other.run("REPLICAOF", "127.0.0.1", setup.primary.port)
    until(lambda: setup.other.info("replication", "master_link_status") == "up")
    row.begins()
    setup.other.run("REPLICAOF", "NO", "ONE")
    has = row.used(setup.other)
    time.sleep(0.5)
    setup.primary.kill()
    killed_at = time.monotonic()
    time.sleep(0.5)
    row.loses_what(has, killed_at + 0.05)
    setup.tell(server=setup.other.port)
    setup.tell(cut=True)
    setup.primary, setup.other = setup.other, setup.primary
    row.returns(setup.primary)


def primary_killed(setup, row):
    """A replica takes over: what had not come there is granted again."""
    row.begins()
    setup.primary.kill()
    killed_at = time.monotonic()
    setup.primary, setup.replica = setup.replica, setup.primary
    time.sleep(0.05)
    row.loses_what(row.used(setup.primary), killed_at + 0.05)
    row.returns(setup.primary)


def primary_paused(setup, row):
    """It is taken for dead, and comes back as one of the old primary's time."""
    row.begins()
    setup.primary.signal(signal.SIGSTOP)
    stopped_at = time.monotonic()
    time.sleep(0.05)
    row.loses_what(row.used(setup.replica), stopped_at + 0.05)
    row.returns(setup.replica)
    old = setup.primary
    setup.primary, setup.replica = setup.replica, setup.primary
    time.sleep(0.5)
    old.signal(signal.SIGCONT)
    until(lambda: old.info("replication", "role") == "slave")


def planned_in_cluster(setup, row):
    """The replica asks its primary to stand back, which waits until it has every write."""
    row.begins()
    setup.replica.run("CLUSTER", "FAILOVER")
    row.returns(setup.replica)
    setup.primary, setup.replica = setup.replica, setup.primary
    until(lambda: setup.replica.info("replication", "master_link_status") == "up")


def slot_moves(setup, row):
    """To the second primary and back, key by key."""
    row.begins()
    slot = setup.servers[1].run("CLUSTER", "KEYSLOT", row.keys["open"])
    ends = [setup.primary, setup.servers[1]]
    for source, to in (ends, ends[::-1]) * 2:
        to.run("CLUSTER", "SETSLOT", slot, "IMPORTING", source.id)
        source.run("CLUSTER", "SETSLOT", slot, "MIGRATING", to.id)
        time.sleep(0.1)
        while keys := source.run("CLUSTER", "GETKEYSINSLOT", slot, 1):
            source.run("MIGRATE", "127.0.0.1", to.port, keys[0], 0, 5000)
            time.sleep(0.05)
        for server in (to, source, setup.servers[2]):
            server.run("CLUSTER", "SETSLOT", slot, "NODE", to.id)
        time.sleep(0.1)
    row.returns(setup.primary)


ROWS = [
    (Plain, "nothing", nothing_fails),
    (Plain, "paused for 0.2 s", paused(0.2)),
    (Plain, "paused for 2.5 s", paused(2.5)),
    (Plain, "scripts flushed, 50 a second", scripts_flushed),
    (Plain, "out of memory", configured([("CONFIG", "SET", "maxmemory", "1")],
                                        [("CONFIG", "SET", "maxmemory", "0")])),
    (Plain, "disk full", disk_full),
    (Plain, "made a replica", configured([("REPLICAOF", "127.0.0.1", "1")],
                                         [("REPLICAOF", "NO", "ONE")])),
    (Plain, "right taken away", configured([("ACL", "SETUSER", "sluice", "-evalsha")],
                                           [("ACL", "SETUSER", "sluice", "+evalsha")])),
    (Plain, "password changed", wrong_password),
    (Plain, "killed, keeps its data", killed(keeps=True)),
    (Plain, "killed, forgets its data", killed(keeps=False)),
    (Proxied, "slow by 30 ms", slow(30, 30)),
    (Proxied, "slow by 0 to 25 ms", slow(0, 25)),
    (Proxied, "cut within replies, 20 a second", cut_within_replies),
    (Proxied, "stale replica promoted", stale_replica_promoted),
    (Sentinels, "Sentinel: primary killed", primary_killed),
    (Cluster, "Cluster: slot moves", slot_moves),
    (Cluster, "Cluster: planned failover", planned_in_cluster),
    (Cluster, "Cluster: primary paused", primary_paused),
    (Cluster, "Cluster: primary killed", primary_killed),
]


def say(cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def main():
    wanted = sys.argv[1:]
    root = pathlib.Path(__file__).resolve().parent.parent
    sluice = os.path.abspath(os.environ.get("SLUICE", root / "build/bench/bin/sluice"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    processes, setups, broken = Processes(), {}, []
    print("%d daemons, deadline %g ms, times in ms from a fault's beginning on. `open`, `shut`, `here`: "
          "a rule with on_store_error\nallow, deny, local; `spent`: used up before. Of each what Redis "
          "admitted / its bound + what passed by policy / its bound.\n" % (NODES, DEADLINE_MS))
    say(Row.HEAD)
    say(["---"] * len(Row.HEAD))
    with tempfile.TemporaryDirectory() as folder:
        try:
            for kind, name, fault in ROWS:
                if wanted and not any(part in name for part in wanted):
                    continue
                if kind not in setups:
                    processes.end()
                    setups = {kind: kind(processes, sluice, pathlib.Path(folder))}
                row = Row(setups[kind], name)
                row.run(fault)
                say(row.cells())
                broken += row.broken
        finally:
            processes.end()
    print("\n" + ("\n".join("BROKEN  " + line for line in broken) or "All bounds hold."))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
