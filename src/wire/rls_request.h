#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::wire {

// envoy.extensions.common.ratelimit.v3.RateLimitDescriptor and its content.
struct RlsEntry {
  std::string_view key;
  std::string_view value;
};
struct RlsOverride {
  std::uint32_t requests_per_unit = 0;
  std::uint32_t unit = 0;  // An open enum: any number may occur.
};
struct RlsDescriptor {
  std::span<const RlsEntry> entries;
  std::optional<RlsOverride> limit{};
  std::optional<std::uint64_t> hits_addend{};
  bool is_negative_hits = false;
};

// envoy.service.ratelimit.v3.RateLimitRequest. Its texts are views of the bytes that Read() was
// given. Reused from request to request, so nothing is allocated once warm.
class RlsRequest {
 public:
  // Reads a message and skips unknown fields. False: it is not one; error() says why. Never throws.
  [[nodiscard]] bool Read(std::string_view bytes);
  [[nodiscard]] std::string_view error() const { return error_; }

  [[nodiscard]] std::string_view domain() const { return domain_; }
  [[nodiscard]] std::span<const RlsDescriptor> descriptors() const { return descriptors_; }
  [[nodiscard]] std::uint32_t hits_addend() const { return hits_addend_; }

  // For readers of another format: Clear(), the parts in their order, Finish().
  void Clear();
  void SetDomain(std::string_view domain) { domain_ = domain; }
  void SetHitsAddend(std::uint32_t hits) { hits_addend_ = hits; }
  // Begins a descriptor. Entries are added to it until the next one.
  [[nodiscard]] RlsDescriptor& AddDescriptor();
  void AddEntry(const RlsEntry& entry) { entries_.push_back(entry); }
  void Finish();

 private:
  void ReadDescriptor(std::string_view bytes);
  [[nodiscard]] std::string_view Text(std::string_view bytes);

  std::string_view domain_;
  std::uint32_t hits_addend_ = 0;
  std::vector<RlsDescriptor> descriptors_;
  std::vector<RlsEntry> entries_;    // Of all descriptors, one after the other.
  std::vector<std::size_t> begins_;  // Where each descriptor's entries begin.
  std::string_view error_;
};

// Reads RateLimitRequest in proto3's JSON mapping: names in camelCase or as in the schema, numbers
// as numbers or in quotes, null for absent values; unknown members are refused. The JSON is copied
// and decoded in place, and the request has views of that copy. Keep both per request and reuse
// them. Never throws.
class RlsJson {
 public:
  // False: it is not one; `error` says what is wrong, and where.
  [[nodiscard]] bool Read(std::string_view json, RlsRequest& request);
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  std::string text_;
  std::string error_;
};

}  // namespace sluice::wire
