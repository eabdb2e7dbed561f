#include "rules/attribute_table.h"

#include "rules/attribute_value.h"

namespace sluice::rules {

namespace {

// Up to this many, comparing names is faster than hashing one: most differ in length.
constexpr std::size_t kFewNames = 8;

}  // namespace

AttributeKind AttributeKind::Of(std::string_view name) {
  AttributeKind kind;
  kind.form = name == "ip" ? ValueForm::kIp : name == "host" ? ValueForm::kHost : ValueForm::kText;
  return kind;
}

bool AttributeTable::Declare(const std::string& name, AttributeKind kind) {
  return declared_.try_emplace(name, kind).first->second == kind;
}

AttributeKind AttributeTable::KindOf(std::string_view name) const {
  const AttributeKind* const declared = DeclaredKindOf(name);
  return declared != nullptr ? *declared : AttributeKind::Of(name);
}

const AttributeKind* AttributeTable::DeclaredKindOf(std::string_view name) const {
  const auto found = declared_.find(name);
  return found == declared_.end() ? nullptr : &found->second;
}

AttributeId AttributeTable::Intern(std::string_view name) {
  if (const auto found = ids_.find(name); found != ids_.end()) {
    return found->second;
  }
  const auto id = static_cast<AttributeId>(entries_.size());
  entries_.push_back({std::string(name), KindOf(name)});
  ids_.emplace(std::string(name), id);
  return id;
}

std::optional<AttributeId> AttributeTable::Find(std::string_view name) const {
  if (entries_.size() <= kFewNames) {
    for (std::size_t id = 0; id < entries_.size(); ++id) {
      if (entries_[id].name == name) {
        return static_cast<AttributeId>(id);
      }
    }
    return std::nullopt;
  }
  const auto found = ids_.find(name);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

void BoundAttribute::Bind(std::string_view value, std::string_view name, const AttributeKind& kind,
                          Secrets secrets) {
  value_ = value;
  name_ = name;
  kind_ = &kind;
  is_hash_ = secrets == Secrets::kMayBeHashes && kind.hash && ValueHash::IsText(value);
  address_known_ = false;
  host_known_ = false;
  hash_known_ = false;
  text_.size = 0;
  key_text_.size = 0;
}

const std::optional<IpAddress>& BoundAttribute::address() const {
  if (!address_known_) {
    address_ = IpAddress::Parse(value_);
    address_known_ = true;
    if (address_ && !kind_->nat64.empty()) {
      address_ = address_->Embedded(kind_->nat64);
    }
  }
  return address_;
}

// For an address or a host.
std::string_view BoundAttribute::CanonicalText() const {
  if (kind_->form == ValueForm::kHost) {
    if (!host_known_) {
      host_ = CanonicalHost(value_, host_room_);
      host_known_ = true;
    }
    return host_;
  }
  const auto& known = address();
  if (!known.has_value()) {
    return value_;
  }
  if (!known->v6 && value_.find(':') == value_.npos) {
    return value_;  // IPv4 without a port has only this spelling.
  }
  if (text_.size == 0) {
    text_ = known->Text();
  }
  return text_.view();
}

std::string_view BoundAttribute::key_text() const {
  if (!kind_->hash) {
    return plain_key_text();
  }
  if (is_hash_) {
    return value_;
  }
  if (!hash_known_) {
    hash_ = kind_->hash->TextOf(name_, plain_key_text());
    hash_known_ = true;
  }
  return {hash_.data(), hash_.size()};
}

std::string_view BoundAttribute::plain_key_text() const {
  if (!kind_->is_ip()) {
    return text();
  }
  const auto& known = address();
  if (!known.has_value()) {
    return value_;
  }
  if (!known->v6 && kind_->grouping.v4_prefix == known->bits()) {
    return text();
  }
  if (key_text_.size == 0) {
    key_text_ = kind_->grouping.KeyText(*known);
  }
  return key_text_.view();
}

void BoundRequest::Start(const AttributeTable& table, Secrets secrets) {
  secrets_ = secrets;
  if (slots_.size() < table.size()) {
    slots_.resize(table.size());
    present_.reserve(table.size());
  }
  present_.clear();
  ++generation_;
}

void BoundRequest::Bind(const AttributeTable& table, std::string_view name,
                        std::string_view value) {
  const auto id = table.Find(name);
  if (!id.has_value()) {
    return;
  }
  Slot& slot = slots_[*id];
  if (slot.generation != generation_) {
    slot.generation = generation_;
    present_.push_back(*id);
  }
  slot.bound.Bind(value, table.name(*id), table.kind(*id), secrets_);
}

}  // namespace sluice::rules
