"""Redis as it is run: one server, behind a proxy, with a Sentinel, a cluster; and a fleet over it."""
import json
import subprocess
import sys

from fleet import HERE, Fleet
from servers import Server, free_port, until

BARE = "save \"\"\nappendonly no\nrepl-diskless-sync-delay 0\n"
# As docs/redis.md has it.
USER = ("user sluice on >secret ~sl1:* resetchannels -@all +evalsha +script|load +ping +auth "
        "+select +client|setname +time +get +set +del +exists +rename +pexpire +lrange +lindex "
        "+lset +ltrim +lpush +rpush +rpop +hget +hgetall +hset +hdel +zadd +zremrangebyscore "
        "+zcard +scan\n")


class Setup:
    """Servers, and a fleet over them."""

    def __init__(self, processes, sluice, folder):
        self.processes, self.sluice = processes, sluice
        self.folder = folder / type(self).__name__
        self.folder.mkdir()
        self.proxy = None

    def serve(self, store):
        self.fleet = Fleet(self.processes, self.sluice, self.folder, store)

    def server(self, conf=BARE, **more):
        return Server(self.processes, self.folder, conf, **more)

    def user(self, name):
        return name, None

    def primaries(self):
        return [self.primary]

    def names(self, server):
        """Whether clients are told that this is the primary."""
        return True


class Plain(Setup):
    """One server, and a user who may do what is needed and no more."""

    def __init__(self, *all_of_it):
        super().__init__(*all_of_it)
        self.primary = self.server(BARE + USER)
        self.password = self.folder / "password"
        self.password.write_text("secret\n")
        self.serve({"address": "127.0.0.1:%d" % self.primary.port, "username": "sluice",
                    "password_file": str(self.password)})


class Proxied(Setup):
    """One server behind a proxy, and another that stands by."""

    def __init__(self, *all_of_it):
        super().__init__(*all_of_it)
        self.primary, self.other = self.server(), self.server()
        self.proxy = self.processes.start(
            [sys.executable, str(HERE / "proxy.py"), str(self.primary.port)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        port = int(self.proxy.stdout.readline())
        self.serve({"address": "127.0.0.1:%d" % port})

    def tell(self, **order):
        self.proxy.stdin.write(json.dumps(order) + "\n")
        self.proxy.stdin.flush()


class Sentinels(Setup):
    """A primary, a replica, and a Sentinel that calls the primary down after half a second."""

    def __init__(self, *all_of_it):
        super().__init__(*all_of_it)
        self.primary = self.server()
        self.replica = self.server(BARE + "replicaof 127.0.0.1 %d\n" % self.primary.port)
        until(lambda: self.replica.info("replication", "master_link_status") == "up")
        self.sentinel = self.server(
            "sentinel monitor mymaster 127.0.0.1 %d 1\nsentinel down-after-milliseconds mymaster "
            "500\nsentinel failover-timeout mymaster 3000\n" % self.primary.port, sentinel=True)
        until(lambda: self.sentinel.says("SENTINEL", "replicas", "mymaster"))
        self.serve({"sentinel": {"primary": "mymaster",
                                 "addresses": ["127.0.0.1:%d" % self.sentinel.port]}})

    def names(self, server):
        return self.sentinel.says("SENTINEL", "get-master-addr-by-name",
                                  "mymaster") == ["127.0.0.1", str(server.port)]


class Cluster(Setup):
    """Three primaries; the first has a replica, and the keys of what is asked."""

    def __init__(self, *all_of_it):
        super().__init__(*all_of_it)
        conf = (BARE + "cluster-enabled yes\ncluster-node-timeout 600\n"
                "cluster-replica-validity-factor 0\ncluster-require-full-coverage no\n")
        self.servers = []
        for _ in range(4):
            bus = free_port()
            self.servers.append(self.server(conf + "cluster-port %d\n" % bus))
            self.servers[-1].bus = bus
            self.servers[-1].id = self.servers[-1].run("CLUSTER", "MYID")
        bounds = [0, 5461, 10923, 16384]
        for i, server in enumerate(self.servers):
            if i < 3:
                server.run("CLUSTER", "ADDSLOTSRANGE", bounds[i], bounds[i + 1] - 1)
            server.run("CLUSTER", "SET-CONFIG-EPOCH", i + 1)
        for server in self.servers[1:]:
            self.servers[0].run("CLUSTER", "MEET", "127.0.0.1", server.port, server.bus)
        self.primary, self.replica = self.servers[0], self.servers[3]
        until(lambda: self.replica.says("CLUSTER", "REPLICATE", self.primary.id) == "OK")
        for server in self.servers:
            until(lambda server=server: self.whole(server))
        until(lambda: self.replica.info("replication", "master_link_status") == "up")
        self.serve({"cluster": ["127.0.0.1:%d" % self.servers[1].port]})

    @staticmethod
    def whole(server):
        said = server.says("CLUSTER", "INFO") or ""
        return ("cluster_state:ok" in said and "cluster_slots_ok:16384" in said
                and "cluster_known_nodes:4" in said)

    def user(self, name):
        """One whose keys the first primary has, and one whose keys the second has."""
        found = {}
        for i in range(1000):
            user = "%s-%d" % (name, i)
            slot = self.servers[1].run("CLUSTER", "KEYSLOT", self.fleet.keys_of(user)["open"])
            found.setdefault(0 if slot < 5461 else 1 if slot < 10923 else 2, user)
            if 0 in found and 1 in found:
                break
        return found[0], found[1]

    def primaries(self):
        return [self.primary, self.servers[1], self.servers[2]]
