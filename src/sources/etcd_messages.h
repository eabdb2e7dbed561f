#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/result.h"

namespace sluice::sources::etcd {

// etcd's requests and answers as its HTTP gateway has them (grpc-gateway: JSON with bytes in
// base64, 64-bit numbers as text, and what is zero left out). Pure; never throws. The reader of the
// connection bounds the answers.

struct KeyValue {
  std::string key;
  std::string value;
  std::int64_t mod_revision = 0;  // Of the store, when this key was last written.
};

// Where a key range begins and ends: all keys that begin with `prefix`.
[[nodiscard]] std::string EndOfPrefix(std::string_view prefix);

// /v3/kv/range
[[nodiscard]] std::string RangeRequest(std::string_view prefix);
// The same, of the key that was written last, without its value: whether anything has changed.
[[nodiscard]] std::string NewestRequest(std::string_view prefix);
struct Range {
  std::string cluster;        // The cluster's id.
  std::int64_t revision = 0;  // Of the store, when it answered.
  std::int64_t count = 0;     // Keys in the range, also where only some were asked for.
  std::vector<KeyValue> keys;
};
[[nodiscard]] Result<Range> ReadRange(std::string_view text);

// /v3/watch: a stream of messages, one a line.
[[nodiscard]] std::string WatchRequest(std::string_view prefix, std::int64_t start_revision);
struct Event {
  bool deleted = false;
  KeyValue of;  // Without a value where it is deleted.
};
struct WatchMessage {
  std::int64_t revision = 0;
  bool canceled = false;  // The watch is over: compacted, or for `reason`.
  std::int64_t compact_revision = 0;
  std::string reason;
  std::vector<Event> events;
};
// Errors also where the message says that the watch failed.
[[nodiscard]] Result<WatchMessage> ReadWatchMessage(std::string_view text);

// /v3/kv/txn: only if the key was last written at `mod_revision` (0: it is not there).
[[nodiscard]] std::string PutIfRequest(std::string_view key, std::string_view value,
                                       std::int64_t mod_revision);
[[nodiscard]] std::string EraseIfRequest(std::string_view key, std::int64_t mod_revision);
struct Txn {
  bool succeeded = false;
  std::int64_t revision = 0;  // That of the change, where it succeeded.
};
[[nodiscard]] Result<Txn> ReadTxn(std::string_view text);

// /v3/auth/authenticate
[[nodiscard]] std::string AuthenticateRequest(std::string_view name, std::string_view password);
[[nodiscard]] Result<std::string> ReadToken(std::string_view text);

// What an answer that is no success says of why; a part of the text where it is no JSON.
[[nodiscard]] std::string ReasonOf(std::string_view body);

}  // namespace sluice::sources::etcd
