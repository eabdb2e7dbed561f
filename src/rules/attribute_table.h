#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/key.h"
#include "rules/ip_address.h"

namespace sluice::rules {

// Lets a map of strings be asked with views, so that a look-up allocates nothing.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};
template <class Value>
using TextMap = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

// The type of an attribute: what a rule file's top-level `attributes` declares.
struct AttributeKind {
  core::AttributeType type = core::AttributeType::kText;
  IpGrouping grouping;  // Of addresses.

  [[nodiscard]] bool is_ip() const { return type == core::AttributeType::kIp; }
  bool operator==(const AttributeKind&) const = default;
};

using AttributeId = std::uint32_t;

// The attributes that a rule set reads, numbered, so that a request's attributes are looked up
// once and conditions find theirs by number. `ip` is of type ip unless declared otherwise.
// Grows while a set is built; immutable and shared afterwards.
class AttributeTable {
 public:
  // Gives `name` a type, before any Intern(name). False if it was given another one already.
  [[nodiscard]] bool Declare(const std::string& name, AttributeKind kind);
  [[nodiscard]] AttributeKind KindOf(std::string_view name) const;

  // The number of `name`, given now if it is new.
  AttributeId Intern(std::string_view name);
  [[nodiscard]] std::optional<AttributeId> Find(std::string_view name) const;

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] const std::string& name(AttributeId id) const { return entries_[id].name; }
  [[nodiscard]] const AttributeKind& kind(AttributeId id) const { return entries_[id].kind; }

 private:
  struct Entry {
    std::string name;
    AttributeKind kind;
  };
  TextMap<AttributeKind> declared_;
  TextMap<AttributeId> ids_;
  std::vector<Entry> entries_;
};

// One attribute of the request at hand. Reused from request to request.
class BoundAttribute {
 public:
  // `value` outlives the request.
  void Bind(std::string_view value, const AttributeKind& kind);

  [[nodiscard]] std::string_view value() const { return value_; }
  // The value read as an address, whatever the attribute's type; nullopt if it is none.
  [[nodiscard]] const std::optional<IpAddress>& address() const;
  // What text conditions see: for type ip the canonical address ("2001:db8::1", without port),
  // else the value.
  [[nodiscard]] std::string_view text() const;
  // What a key holds: for type ip the canonical block. Requires address() for type ip. The view
  // lasts until the next Bind().
  [[nodiscard]] std::string_view key_text() const;

 private:
  std::string_view value_;
  const AttributeKind* kind_ = nullptr;
  // Made when first asked for.
  mutable bool address_known_ = false;
  mutable std::optional<IpAddress> address_;
  mutable IpText text_;
  mutable IpText key_text_;
};

// The attributes of the request at hand, by number. One thread at a time; allocates only when
// it first meets a larger table.
class BoundRequest {
 public:
  // Forgets the last request and makes room for the attributes of `table`.
  void Start(const AttributeTable& table);
  // Notes one attribute; of two with one name the last counts. Unread ones are ignored.
  void Bind(const AttributeTable& table, std::string_view name, std::string_view value);

  // nullptr if the request does not have it.
  [[nodiscard]] const BoundAttribute* Get(AttributeId id) const {
    return slots_[id].generation == generation_ ? &slots_[id].bound : nullptr;
  }
  [[nodiscard]] const std::vector<AttributeId>& present() const { return present_; }

 private:
  struct Slot {
    std::uint64_t generation = 0;
    BoundAttribute bound;
  };
  std::vector<Slot> slots_;
  std::vector<AttributeId> present_;
  std::uint64_t generation_ = 0;
};

}  // namespace sluice::rules
