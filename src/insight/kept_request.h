#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sluice/attribute.h"
#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/key.h"
#include "insight/request_record.h"

namespace sluice::insight {

// One check of a kept request.
struct KeptDecision {
  std::string_view rule;
  std::vector<core::KeyPart> parts;
  Decision decision;
  Cost cost;
  Outcome outcome = Outcome::kAllowed;
  bool charged = false;
  bool lease = false;
};

// A record that outlives its request, as bytes: what EncodeRequest() wrote, read again. Secrets
// are in it only as their hashes.
struct KeptRequest {
  WallInstant at{};  // Unset where no store was asked.
  std::string_view request_id;
  std::string_view trace_id;  // 32 hex digits; "": it belongs to no sampled trace.
  std::string_view listener;
  JudgedBy judged_by = JudgedBy::kRules;
  std::uint8_t uses = 0;  // For the thread that collects it.
  bool allowed = true;
  Cost cost;
  std::vector<Attribute> attributes;  // Empty unless they were asked for.
  std::vector<KeptDecision> decisions;
};

// Writes `request` into `room`, and returns how many bytes it takes; 0 if it does not fit. `uses`
// is for its reader. Allocates nothing.
[[nodiscard]] std::size_t EncodeRequest(const RequestRecord& request, std::uint8_t uses,
                                        bool with_attributes, std::span<char> room);

// Reads what EncodeRequest() wrote into `request`, whose room is used again. Its texts view
// `bytes`.
void DecodeRequest(std::string_view bytes, KeptRequest& request);

}  // namespace sluice::insight
