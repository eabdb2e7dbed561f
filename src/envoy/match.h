#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "envoy/configuration.h"
#include "envoy/limit.h"
#include "wire/rls_request.h"

namespace sluice::envoy {

// The way of one descriptor through the tree.
struct Match {
  // None: what was asked about is not limited. Several: of a list.
  std::span<const std::unique_ptr<Limit>> limits;
  // By entry: the pattern that stands for its value, "" where the value stands for itself.
  // (share_threshold.) As long as the walk came.
  std::vector<std::string_view> shared;
  // The nodes passed, and how: for what statistics are called.
  std::vector<DescriptorLevel::Found> way;
  // Whether statistics are kept by values that came, and not by the limit alone.
  bool has_value_in_metric = false;

  void Clear() {
    limits = {};
    shared.clear();
    way.clear();
    has_value_in_metric = false;
  }
};

// Goes down `level` entry by entry. Limits apply only if they stand at the last one: those on the
// way, and those further down, do not. `match` is room that is reused.
void FindLimits(const DescriptorLevel& level, const wire::RlsDescriptor& descriptor, Match& match);

}  // namespace sluice::envoy
