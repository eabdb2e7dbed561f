#pragma once

// What a caller asks, and how.

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "breaker.h"

namespace sluice_client {

// One attribute of a request: text, a number, or true and false.
struct Attribute {
  Attribute(std::string_view name_of, std::string_view text)
      : name(name_of), value(text), is_text(true) {}
  Attribute(std::string_view name_of, const char* text)
      : Attribute(name_of, std::string_view(text)) {}
  Attribute(std::string_view name_of, const std::string& text)
      : Attribute(name_of, std::string_view(text)) {}
  template <class Number, std::enable_if_t<std::is_arithmetic_v<Number>, int> = 0>
  Attribute(std::string_view name_of, Number number) : name(name_of) {
    if constexpr (std::is_same_v<Number, bool>) {
      value = number ? "true" : "false";
    } else if constexpr (std::is_integral_v<Number>) {
      value = std::to_string(number);
    } else {
      char text[32];
      std::snprintf(text, sizeof text, "%.17g", static_cast<double>(number));
      value = text;
    }
  }

  std::string name;
  std::string value;
  bool is_text = false;
};
using Attributes = std::vector<Attribute>;

struct ClientOptions {
  std::string url =
      "http://127.0.0.1:8080";  // Of a check listener. http alone: there is no TLS here.
  std::string token;            // The listener's bearer token, if it has `auth`.
  Milliseconds timeout{100};    // That a call may take at most, with connecting and retries.
  int retries =
      1;  // Of a call that failed on the way. With retries a check has an idempotency key.
  bool fail_open =
      true;  // What Check() decides when Sluice does not answer; false denies with 503.
  int breaker_failures = 3;
  Milliseconds breaker_retry_every{1000};
  Policy policy{};            // How Acquire() waits.
  std::size_t max_idle = 32;  // Connections that are kept open between calls.
  Clock* clock = &Clock::System();
};

struct CheckOptions {
  std::int64_t cost = 1;  // Units, 0 to 999999999999999.
  bool peek = false;      // Charge nothing.
  bool wait = false;      // Let the daemon hold the answer back until a shaped request may go.
  bool reserve = false;   // The decision has a text for Settle().
  bool receipt = false;   // The decision has a text for Refund().
  std::string idempotency_key;  // Of your caller's request, so that its retries are charged once.
};

// One element of a batch.
struct BatchedCheck {
  Attributes attributes;
  std::int64_t cost = 1;
  bool peek = false;
};

// A rule's part of a settlement.
struct Settled {
  std::string name;
  std::int64_t charged = 0;  // By the reservation.
  std::int64_t cost = 0;     // That counts now.
};

}  // namespace sluice_client
