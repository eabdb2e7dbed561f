#include "frontend/http/openapi.h"

#include <set>
#include <string_view>
#include <utility>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "base/assert.h"

namespace sluice::frontend::http {

namespace {

namespace json = boost::json;

constexpr std::string_view kMark = "x-sluice-role";

struct NamedMethod {
  std::string_view name;
  wire::HttpMethod method;
};
// The methods that OpenAPI has. HEAD is described only for routes with any method; elsewhere it
// goes with GET, as in HTTP.
constexpr NamedMethod kMethods[] = {
    {"get", wire::HttpMethod::kGet},         {"put", wire::HttpMethod::kPut},
    {"post", wire::HttpMethod::kPost},       {"delete", wire::HttpMethod::kDelete},
    {"options", wire::HttpMethod::kOptions}, {"head", wire::HttpMethod::kHead},
    {"patch", wire::HttpMethod::kPatch},     {"trace", wire::HttpMethod::kOther},
};

std::string_view NameOf(Role role) {
  return role == Role::kCheck ? "check" : role == Role::kAdmin ? "admin" : "metrics";
}

bool IsOfAnotherRole(json::value& node, std::string_view role) {
  auto* const object = node.if_object();
  if (object == nullptr || !object->contains(kMark)) {
    return false;
  }
  const bool other = std::string_view(object->at(kMark).as_string()).find(role) == role.npos;
  object->stable_erase(kMark);
  return other;
}

// Removes what is marked for listeners of other roles.
void KeepRole(json::value& node, std::string_view role) {
  if (auto* const object = node.if_object()) {
    for (auto member = object->begin(); member != object->end();) {
      if (IsOfAnotherRole(member->value(), role)) {
        member = object->stable_erase(member);
      } else {
        KeepRole(member->value(), role);
        ++member;
      }
    }
  } else if (auto* const array = node.if_array()) {
    for (auto item = array->begin(); item != array->end();) {
      if (IsOfAnotherRole(*item, role)) {
        item = array->erase(item);
      } else {
        KeepRole(*item, role);
        ++item;
      }
    }
  }
}

void SetSecurity(json::object& operation, const Route& route, bool has_token) {
  if (!has_token) {
    operation["responses"].as_object().stable_erase("401");
  } else if (!route.open) {
    operation["security"] = {{{"token", json::array()}}};
  }
}

// The path's item as `route` serves it.
json::object ItemOf(const json::object& source, const ServedRoute& served, bool has_token) {
  json::object item;
  if (const auto* const parameters = source.if_contains("parameters")) {
    item["parameters"] = *parameters;
  }
  for (const auto& [name, method] : kMethods) {
    if (!served.route->methods.Has(method)) {
      continue;
    }
    const bool any = served.route->methods.is_any();
    const auto* const described = source.if_contains(any ? "get" : name);
    if (described == nullptr) {
      SLUICE_ASSERT(method == wire::HttpMethod::kHead);  // docs/openapi.json lacks an operation.
      continue;
    }
    json::object& operation = (item[name] = *described).as_object();
    if (any && name != "get") {
      // Ids must differ.
      operation["operationId"] =
          std::string(operation["operationId"].as_string()) + "_" + std::string(name);
    }
    SetSecurity(operation, *served.route, has_token);
  }
  return item;
}

void FindReferences(const json::value& node, std::set<std::string>& found) {
  if (const auto* const object = node.if_object()) {
    for (const auto& member : *object) {
      if (member.key() == "$ref" && member.value().is_string()) {
        found.emplace(member.value().as_string());
      } else {
        FindReferences(member.value(), found);
      }
    }
  } else if (const auto* const array = node.if_array()) {
    for (const json::value& item : *array) {
      FindReferences(item, found);
    }
  }
}

// "#/components/schemas/Problem" -> the node.
const json::value& Resolve(const json::value& document, std::string_view reference) {
  SLUICE_ASSERT(reference.starts_with("#/"));
  return document.at_pointer(reference.substr(1));
}

// Removes the components that nothing refers to.
void PruneComponents(json::value& document) {
  std::set<std::string> used;
  FindReferences(document.at("paths"), used);
  for (std::set<std::string> open = used; !open.empty();) {
    std::set<std::string> next;
    for (const std::string& reference : open) {
      FindReferences(Resolve(document, reference), next);
    }
    open.clear();
    for (const std::string& reference : next) {
      if (used.insert(reference).second) {
        open.insert(reference);
      }
    }
  }
  for (auto& kind : document.at("components").as_object()) {
    if (kind.key() == "securitySchemes") {
      continue;
    }
    json::object kept;
    for (auto& component : kind.value().as_object()) {
      const std::string reference =
          "#/components/" + std::string(kind.key()) + "/" + std::string(component.key());
      if (used.contains(reference)) {
        kept.emplace(component.key(), component.value());
      }
    }
    kind.value() = std::move(kept);
  }
}

// Removes the tags that no operation has.
void PruneTags(json::object& document) {
  std::set<std::string_view> used;
  for (const auto& path : document.at("paths").as_object()) {
    for (const auto& operation : path.value().as_object()) {
      if (const auto* const object = operation.value().if_object()) {
        for (const json::value& tag : object->at("tags").as_array()) {
          used.insert(tag.as_string());
        }
      }
    }
  }
  json::array kept;
  for (const json::value& tag : document.at("tags").as_array()) {
    if (used.contains(tag.at("name").as_string())) {
      kept.push_back(tag);
    }
  }
  document["tags"] = std::move(kept);
}

}  // namespace

std::string DescribeRoutes(std::span<const ServedRoute> routes, Role role, bool has_token) {
  json::value document = json::parse(kOpenApiSource);
  KeepRole(document, NameOf(role));
  json::object paths;
  for (const ServedRoute& served : routes) {
    const auto* const source = document.at("paths").as_object().if_contains(served.route->path);
    SLUICE_ASSERT(source != nullptr);  // docs/openapi.json lacks a path.
    paths[served.path] = ItemOf(source->as_object(), served, has_token);
  }
  json::object& object = document.as_object();
  object["paths"] = std::move(paths);
  object["servers"] = {{{"url", "/"}}};
  if (!has_token) {
    object.at("components").as_object().stable_erase("securitySchemes");
  }
  PruneComponents(document);
  PruneTags(object);
  return json::serialize(document) + "\n";
}

const std::string& ListenerDescription::Text() {
  if (text_.empty()) {
    text_ = DescribeRoutes(routes_, role_, has_token_);
  }
  return text_;
}

}  // namespace sluice::frontend::http
