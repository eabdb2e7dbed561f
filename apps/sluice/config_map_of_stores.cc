#include <array>

#include "config_map.h"
#include "config_table.h"
#include "store/block.h"
#include "store/table_layout.h"

// Where keys and rules are kept.
namespace sluice::app {

namespace {

// Each in the order of the enum that it is read into.
constexpr std::array<std::string_view, 3> kWhenFull{"evict", "deny", "allow"};

constexpr auto kSentinelFields = std::to_array<ConfigField>({
    table::Value("primary", "text", "required", "The primary's name, as the Sentinels call it"),
    table::Listed(table::Value("addresses", "list of HOST[:PORT]", "required",
                               "The Sentinels; the port is 26379 if left out")),
    table::Guard(table::Value("username", "text", "none", "The user name for the Sentinels")),
    table::Guard(
        table::Value("password_file", "file", "none", "The file that holds this user's password")),
});

constexpr auto kRedisTlsFields = std::to_array<ConfigField>({
    table::Guard(table::Value("ca", "file", "the system's authorities",
                              "The authorities in PEM that sign the servers' certificates")),
    table::Guard(table::Value("cert", "file", "none", "This node's own certificate in PEM")),
    table::Guard(table::Value("key", "file", "none", "The private key of this certificate")),
    table::Value("server_name", "host", "the host that is dialled",
                 "The name that the servers' certificates must have, which is also sent as SNI"),
});

constexpr auto kLeaseFields = std::to_array<ConfigField>({
    table::Count(
        "keys", 0, 10'000'000, table::Is("100000"),
        "For how many keys of rules with `sync: lease` one worker thread may borrow units"),
});

constexpr auto kRedisFields = std::to_array<ConfigField>({
    table::Value("address", "HOST[:PORT] or unix:PATH", "none",
                 "The server; the port is 6379 if left out"),
    table::Map("sentinel", kSentinelMap, "none",
               "Instead of `address`: the Sentinels that name the server"),
    table::Listed(
        table::Value("cluster", "list of HOST[:PORT]", "none",
                     "Instead of `address`: some of a cluster's servers, which name the others")),
    table::Guard(table::Value("username", "text", "none", "The Redis user")),
    table::Refused("password"),
    table::Guard(table::Value("password_file", "file", "none",
                              "The file that holds the user's password, read at each connection")),
    table::Guard(table::Map("tls", kRedisTlsMap, "none",
                            "Speaks TLS; `{}` trusts the system's certificates")),
    table::Count("database", 0, 1'000'000, table::Is("0"),
                 "The number of the database; a cluster has only 0"),
    table::Value("timeout", "duration, 1ms to 10s", table::Is("10ms"),
                 "How long a call may take before the rule's `on_store_error` decides"),
    table::Map("lease", kLeaseMap, table::Is("{keys: 100000}"),
               "Bounds of rules with `sync: lease`"),
});

constexpr auto kStoreFields = std::to_array<ConfigField>({
    table::Map("redis", kRedisMap, "none", "A Redis that any number of nodes share"),
});

constexpr auto kTableFields = std::to_array<ConfigField>({
    table::Value("path", "file", "/dev/shm/sluice-UID-PORT.table",
                 "The table's file, on a tmpfs; it survives the process, also after `kill -9`"),
    table::Count("keys", 1, Units{store::kMostKeys}, table::Is("1000000"),
                 "How many keys fit; 80 bytes each, allocated at start"),
    table::Count("blocks", 1, Units{store::kMaxBlocks}, "a quarter of `keys`",
                 "Blocks of 128 bytes for logs, segments and holds"),
    table::Word(
        "when_full", kWhenFull, table::Is("evict"),
        "What happens to a new key when the table is full: the key nearest to its full quota "
        "is evicted, or the new key is denied or allowed uncounted"),
    table::Value("snapshots", "directory",
                 "$STATE_DIRECTORY, else /var/lib/sluice for root, else $XDG_STATE_HOME/sluice",
                 "Where the table's snapshots are kept, on a disk"),
    table::Value("snapshot_interval", "duration or off", table::Is("10s"),
                 "How often a snapshot is written"),
});

constexpr auto kApiFields = std::to_array<ConfigField>({
    table::Value("dir", "directory",
                 "$STATE_DIRECTORY, else a directory named by the port of the first check listener",
                 "Where rules and modes are stored that are changed over the API"),
});

constexpr auto kEtcdTlsFields = std::to_array<ConfigField>({
    table::Guard(table::Value("ca", "file", "the system's authorities",
                              "The authorities in PEM that sign etcd's certificates")),
    table::Guard(table::Value("cert", "file", "none", "This node's own certificate in PEM")),
    table::Guard(table::Value("key", "file", "none", "The private key of this certificate")),
});

constexpr auto kEtcdAuthFields = std::to_array<ConfigField>({
    table::Guard(table::Value("username", "text", "required", "The etcd user")),
    table::Guard(table::Value("password_file", "file", "required",
                              "The file that holds the user's password, read at every login")),
});

constexpr auto kEtcdFields = std::to_array<ConfigField>({
    table::Listed(
        table::Value("endpoints", "list of http://HOST:PORT or https://…", "required",
                     "Members of one cluster; the next is tried when one does not answer")),
    table::Value("prefix", "text", table::Is("/ratelimit/rules/"),
                 "What the keys of rules begin with; the rest of a key is the rule's id"),
    table::Guard(table::Map("tls", kEtcdTlsMap, "none", "Speaks TLS with these files")),
    table::Guard(table::Map("auth", kEtcdAuthMap, "none", "The user that this node logs in as")),
});

constexpr auto kRuleSourceFields = std::to_array<ConfigField>({
    table::Listed(table::Value("files", "list of globs", "none", "Rule files, which are watched")),
    table::Map("api", kApiMap, "stored in the state directory", "Rules that are put over the API"),
    table::Map("etcd", kEtcdMap, "none", "Rules that all nodes share"),
});

}  // namespace

constinit const ConfigMap kSentinelMap{"sentinel", kSentinelFields};
constinit const ConfigMap kRedisTlsMap{"tls", kRedisTlsFields};
constinit const ConfigMap kLeaseMap{"lease", kLeaseFields};
constinit const ConfigMap kRedisMap{"redis", kRedisFields};
constinit const ConfigMap kStoreMap{"store", kStoreFields};
constinit const ConfigMap kTableMap{"table", kTableFields};
constinit const ConfigMap kApiMap{"api", kApiFields};
constinit const ConfigMap kEtcdTlsMap{"tls", kEtcdTlsFields};
constinit const ConfigMap kEtcdAuthMap{"auth", kEtcdAuthFields};
constinit const ConfigMap kEtcdMap{"etcd", kEtcdFields};
constinit const ConfigMap kRuleSourceMap{"a rule source", kRuleSourceFields};

}  // namespace sluice::app
