#include "sources/etcd_messages.h"

#include <charconv>
#include <optional>
#include <utility>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include "base/fault.h"
#include "wire/base64.h"
#include "wire/json_writer.h"

namespace sluice::sources::etcd {

namespace {

namespace json = boost::json;
using wire::JsonWriter;

tl::unexpected<Error> NotEtcd(std::string_view what) {
  return Fault("unexpected answer from etcd: " + std::string(what));
}

std::optional<json::value> Parse(std::string_view text) {
  boost::system::error_code error;
  json::value value = json::parse(json::string_view(text.data(), text.size()), error);
  if (error || !value.is_object()) {
    return std::nullopt;
  }
  return value;
}

const json::object* Object(const json::object& of, std::string_view name) {
  const json::value* const value = of.if_contains(json::string_view(name.data(), name.size()));
  return value == nullptr ? nullptr : value->if_object();
}

const json::array* List(const json::object& of, std::string_view name) {
  const json::value* const value = of.if_contains(json::string_view(name.data(), name.size()));
  return value == nullptr ? nullptr : value->if_array();
}

std::string_view Text(const json::object& of, std::string_view name) {
  const json::value* const value = of.if_contains(json::string_view(name.data(), name.size()));
  const json::string* const text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::string_view() : std::string_view(text->data(), text->size());
}

bool Truth(const json::object& of, std::string_view name) {
  const json::value* const value = of.if_contains(json::string_view(name.data(), name.size()));
  return value != nullptr && value->is_bool() && value->get_bool();
}

// A 64-bit number, which comes as text; 0 where it is left out.
std::int64_t Number(const json::object& of, std::string_view name) {
  const json::value* const value = of.if_contains(json::string_view(name.data(), name.size()));
  if (value != nullptr && value->is_int64()) {
    return value->get_int64();
  }
  const std::string_view text = Text(of, name);
  std::int64_t number = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

bool ReadKeyValue(const json::value& from, KeyValue& into) {
  const json::object* const of = from.if_object();
  if (of == nullptr) {
    return false;
  }
  auto key = wire::FromBase64(Text(*of, "key"));
  auto value = wire::FromBase64(Text(*of, "value"));
  if (!key || !value) {
    return false;
  }
  into = {.key = *std::move(key),
          .value = *std::move(value),
          .mod_revision = Number(*of, "mod_revision")};
  return true;
}

// The members that say which keys are meant.
void WritePrefix(std::string_view prefix, JsonWriter& out) {
  out.Name("key").Text(wire::ToBase64(prefix));
  out.Name("range_end").Text(wire::ToBase64(EndOfPrefix(prefix)));
}

// A transaction up to its `success`.
void BeginIf(std::string_view key, std::int64_t mod_revision, JsonWriter& out) {
  out.BeginObject().Name("compare").BeginArray().BeginObject();
  out.Name("key").Text(wire::ToBase64(key));
  out.Name("target").Text("MOD").Name("result").Text("EQUAL");
  out.Name("mod_revision").Text(std::to_string(mod_revision));
  out.EndObject().EndArray().Name("success").BeginArray().BeginObject();
}

}  // namespace

// The first text behind all that begin with `prefix`: its last byte below 255, one more.
std::string EndOfPrefix(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 255U) {
    end.pop_back();
  }
  if (end.empty()) {
    return {'\0'};  // To the end of all keys.
  }
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1U);
  return end;
}

std::string RangeRequest(std::string_view prefix) {
  std::string text;
  JsonWriter out(text);
  out.BeginObject();
  WritePrefix(prefix, out);
  out.EndObject();
  return text;
}

std::string NewestRequest(std::string_view prefix) {
  std::string text;
  JsonWriter out(text);
  out.BeginObject();
  WritePrefix(prefix, out);
  out.Name("sort_order").Text("DESCEND").Name("sort_target").Text("MOD");
  out.Name("limit").Text("1").Name("keys_only").Truth(true);
  out.EndObject();
  return text;
}

Result<Range> ReadRange(std::string_view text) {
  const auto parsed = Parse(text);
  if (!parsed) {
    return NotEtcd("it has no header");
  }
  const json::object& root = parsed->get_object();
  const json::object* const header = Object(root, "header");
  if (header == nullptr) {
    return NotEtcd("it has no header");
  }
  Range range{.cluster = std::string(Text(*header, "cluster_id")),
              .revision = Number(*header, "revision"),
              .count = Number(root, "count"),
              .keys = {}};
  if (const json::array* const keys = List(root, "kvs")) {
    for (const json::value& item : *keys) {
      if (!ReadKeyValue(item, range.keys.emplace_back())) {
        return NotEtcd("it has an invalid key");
      }
    }
  }
  return range;
}

std::string WatchRequest(std::string_view prefix, std::int64_t start_revision) {
  std::string text;
  JsonWriter out(text);
  out.BeginObject().Name("create_request").BeginObject();
  WritePrefix(prefix, out);
  out.Name("start_revision").Text(std::to_string(start_revision));
  out.EndObject().EndObject();
  return text;
}

Result<WatchMessage> ReadWatchMessage(std::string_view text) {
  const auto parsed = Parse(text);
  const json::object* const result = parsed ? Object(parsed->get_object(), "result") : nullptr;
  if (result == nullptr) {
    return Fault("the watch failed: " + ReasonOf(text));
  }
  const json::object* const header = Object(*result, "header");
  WatchMessage message{.revision = header == nullptr ? 0 : Number(*header, "revision"),
                       .canceled = Truth(*result, "canceled"),
                       .compact_revision = Number(*result, "compact_revision"),
                       .reason = std::string(Text(*result, "cancel_reason")),
                       .events = {}};
  if (const json::array* const events = List(*result, "events")) {
    for (const json::value& item : *events) {
      const json::object* const event = item.if_object();
      const json::value* const of = event == nullptr ? nullptr : event->if_contains("kv");
      Event& read = message.events.emplace_back();
      if (of == nullptr || !ReadKeyValue(*of, read.of)) {
        return NotEtcd("it has an invalid event");
      }
      read.deleted = Text(*event, "type") == "DELETE";
    }
  }
  return message;
}

std::string PutIfRequest(std::string_view key, std::string_view value, std::int64_t mod_revision) {
  std::string text;
  JsonWriter out(text);
  BeginIf(key, mod_revision, out);
  out.Name("request_put").BeginObject();
  out.Name("key").Text(wire::ToBase64(key)).Name("value").Text(wire::ToBase64(value));
  out.EndObject().EndObject().EndArray().EndObject();
  return text;
}

std::string EraseIfRequest(std::string_view key, std::int64_t mod_revision) {
  std::string text;
  JsonWriter out(text);
  BeginIf(key, mod_revision, out);
  out.Name("request_delete_range").BeginObject().Name("key").Text(wire::ToBase64(key)).EndObject();
  out.EndObject().EndArray().EndObject();
  return text;
}

Result<Txn> ReadTxn(std::string_view text) {
  const auto parsed = Parse(text);
  const json::object* const header = parsed ? Object(parsed->get_object(), "header") : nullptr;
  if (!parsed || header == nullptr) {
    return NotEtcd("it has no header");
  }
  return Txn{.succeeded = Truth(parsed->get_object(), "succeeded"),
             .revision = Number(*header, "revision")};
}

std::string AuthenticateRequest(std::string_view name, std::string_view password) {
  std::string text;
  JsonWriter out(text);
  out.BeginObject().Name("name").Text(name).Name("password").Text(password).EndObject();
  return text;
}

Result<std::string> ReadToken(std::string_view text) {
  const auto parsed = Parse(text);
  std::string token(parsed ? Text(parsed->get_object(), "token") : std::string_view());
  if (token.empty()) {
    return NotEtcd("it has no token");
  }
  return token;
}

std::string ReasonOf(std::string_view body) {
  if (const auto parsed = Parse(body)) {
    const json::object& root = parsed->get_object();
    const json::object* const nested = Object(root, "error");
    const json::object& error = nested == nullptr ? root : *nested;
    for (const std::string_view name : {"message", "error"}) {
      if (const std::string_view said = Text(error, name); !said.empty()) {
        return std::string(said);
      }
    }
  }
  constexpr std::size_t kShown = 200;
  return std::string(body.substr(0, kShown));
}

}  // namespace sluice::sources::etcd
