#include "sources/etcd_copy.h"

#include <utility>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include "base/fault.h"
#include "wire/base64.h"
#include "wire/json_writer.h"

namespace sluice::sources {

namespace {

namespace json = boost::json;

tl::unexpected<Error> NoCopy() {
  return Fault("not a copy of etcd's rules");
}

const json::value* Member(const json::value& of, json::string_view name, json::kind kind) {
  const json::object* const object = of.if_object();
  const json::value* const value = object == nullptr ? nullptr : object->if_contains(name);
  return value != nullptr && value->kind() == kind ? value : nullptr;
}

}  // namespace

// Texts in base64: they are bytes of somebody else's, and JSON holds UTF-8 alone.
std::string WriteCopy(const EtcdSnapshot& snapshot) {
  std::string text;
  wire::JsonWriter out(text);
  out.BeginObject().Name("cluster").Text(snapshot.cluster);
  out.Name("revision").Number(snapshot.revision).Name("rules").BeginArray();
  for (const auto& [id, document] : snapshot.documents) {
    out.BeginObject()
        .Name("id")
        .Text(wire::ToBase64(id))
        .Name("text")
        .Text(wire::ToBase64(document.text));
    out.Name("mod_revision").Number(document.mod_revision).EndObject();
  }
  out.EndArray().EndObject();
  return text + '\n';
}

Result<EtcdSnapshot> ReadCopy(std::string_view text) {
  boost::system::error_code error;
  const json::value root = json::parse(json::string_view(text.data(), text.size()), error);
  if (error) {
    return NoCopy();
  }
  const json::value* const cluster = Member(root, "cluster", json::kind::string);
  const json::value* const revision = Member(root, "revision", json::kind::int64);
  const json::value* const rules = Member(root, "rules", json::kind::array);
  if (cluster == nullptr || revision == nullptr || rules == nullptr) {
    return NoCopy();
  }
  EtcdSnapshot snapshot{
      .cluster = std::string(cluster->get_string().data(), cluster->get_string().size()),
      .revision = revision->get_int64(),
      .documents = {}};
  for (const json::value& rule : rules->get_array()) {
    const json::value* const id = Member(rule, "id", json::kind::string);
    const json::value* const body = Member(rule, "text", json::kind::string);
    const json::value* const written = Member(rule, "mod_revision", json::kind::int64);
    if (id == nullptr || body == nullptr || written == nullptr) {
      return NoCopy();
    }
    auto name = wire::FromBase64({id->get_string().data(), id->get_string().size()});
    auto document = wire::FromBase64({body->get_string().data(), body->get_string().size()});
    if (!name || !document) {
      return NoCopy();
    }
    snapshot.documents.insert_or_assign(
        *std::move(name),
        EtcdDocument{.text = *std::move(document), .mod_revision = written->get_int64()});
  }
  return snapshot;
}

}  // namespace sluice::sources
