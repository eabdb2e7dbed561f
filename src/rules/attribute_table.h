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
#include "rules/attribute_value.h"
#include "rules/ip_address.h"

namespace sluice::rules {

// Allows lookups by string_view, so that a lookup allocates nothing.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};
template <class Value>
using TextMap = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

// How an attribute's values are normalised, so that two spellings of one thing are one value.
enum class ValueForm : std::uint8_t {
  kText,  // Byte by byte.
  kIp,    // An address, by its block.
  kHost,  // A host name: CanonicalHost().
};

// The type of an attribute: what a rule file's top-level `attributes` declares.
struct AttributeKind {
  ValueForm form = ValueForm::kText;
  IpGrouping grouping;  // For addresses.
  // For addresses: IPv6 blocks that embed IPv4 addresses (RFC 6052).
  std::vector<IpPrefix> nat64;
  // For a secret: keys contain this hash instead of the value. Conditions see the value.
  std::optional<ValueHash> hash;

  // The kind of `name` if it is not declared.
  [[nodiscard]] static AttributeKind Of(std::string_view name);

  [[nodiscard]] bool is_ip() const { return form == ValueForm::kIp; }
  // The type of a key part. A host name is a text there, because it is already canonical.
  [[nodiscard]] core::AttributeType type() const {
    return is_ip() && !hash ? core::AttributeType::kIp : core::AttributeType::kText;
  }
  bool operator==(const AttributeKind&) const = default;
};

using AttributeId = std::uint32_t;

// The attributes that a rule set reads, numbered: a request's attributes are looked up once, and
// conditions find theirs by number. `ip` has type ip and `host` type host, unless declared
// otherwise. Grows while a set is built; immutable and shared afterwards.
class AttributeTable {
 public:
  // Gives `name` a type, before any Intern(name). False if it already has another one.
  [[nodiscard]] bool Declare(const std::string& name, AttributeKind kind);
  [[nodiscard]] AttributeKind KindOf(std::string_view name) const;
  // The type that was declared; nullptr if none was.
  [[nodiscard]] const AttributeKind* DeclaredKindOf(std::string_view name) const;

  // The number of `name`; a new name gets the next one.
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

// Whether the value of a secret attribute may be its hash. Operators may know only the hash, from
// lists. Callers send the value.
enum class Secrets : std::uint8_t { kAreValues, kMayBeHashes };

// One attribute of the current request. Reused from request to request.
class BoundAttribute {
 public:
  // All outlive the request.
  void Bind(std::string_view value, std::string_view name, const AttributeKind& kind,
            Secrets secrets);

  [[nodiscard]] std::string_view value() const { return value_; }
  // The value parsed as an address, whatever the attribute's type; nullopt if it is not one.
  [[nodiscard]] const std::optional<IpAddress>& address() const;
  // The text that conditions see: for type ip the canonical address ("2001:db8::1", without port),
  // for type host the canonical name, otherwise the value. The view is valid until the next Bind().
  [[nodiscard]] std::string_view text() const {
    return kind_->form == ValueForm::kText ? value_ : CanonicalText();
  }
  // Whether the value is the hash of a secret. If so, it has no address, and text() is the hash.
  [[nodiscard]] bool is_hash() const { return is_hash_; }
  // The text in keys: for type ip the canonical block, for type host the canonical name, otherwise
  // the value; for a secret the hash of that text. Requires address() for type ip. The view is
  // valid until the next Bind().
  [[nodiscard]] std::string_view key_text() const;

 private:
  [[nodiscard]] std::string_view CanonicalText() const;
  [[nodiscard]] std::string_view plain_key_text() const;

  std::string_view value_;
  std::string_view name_;
  const AttributeKind* kind_ = nullptr;
  bool is_hash_ = false;
  // Computed on first use.
  mutable bool address_known_ = false;
  mutable std::optional<IpAddress> address_;
  mutable IpText text_;
  mutable IpText key_text_;
  mutable bool hash_known_ = false;
  mutable ValueHash::Text hash_{};
  mutable bool host_known_ = false;
  mutable std::string_view host_;
  mutable std::string host_room_;  // For a name that is not canonical.
};

// The attributes of the current request, by number. One thread at a time; allocates only for a
// larger table than before.
class BoundRequest {
 public:
  // Drops the last request and makes room for the attributes of `table`.
  void Start(const AttributeTable& table, Secrets secrets = Secrets::kAreValues);
  // Adds one attribute; of two with the same name, the last counts. Attributes that no rule reads
  // are ignored.
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
  Secrets secrets_ = Secrets::kAreValues;
};

}  // namespace sluice::rules
