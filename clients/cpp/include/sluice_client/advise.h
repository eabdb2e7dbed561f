#pragma once

// What to do with a response of any server that limits rates. Every client of Sluice does the same:
// the tests play clients/vectors/.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "json.h"
#include "quotas.h"

namespace sluice_client {

using Milliseconds = std::chrono::milliseconds;
using Deadline = std::chrono::steady_clock::time_point;

// What a caller allows.
struct Policy {
  int max_attempts = 4;      // How often a request is sent at most, the first time included.
  Milliseconds cap{60'000};  // The longest single wait; a server that asks for more is given up on.
  Milliseconds base{500};    // The first back-off, where the server states no time. It doubles.
  double jitter = 0.2;       // By which part a wait may be extended. It is never shortened.
  std::int64_t headroom = 0;  // Units of each quota that are left to its other users.
};

// What to do with a response.
struct Advice {
  enum class Action { kProceed, kWait, kGiveUp };
  Action action = Action::kProceed;  // No limit refused it; send it again; hand it to the caller.
  // "ok", "used_up", "server", "backoff", "never", "attempts", "unsafe", "cap" or "deadline".
  const char* reason = "ok";
  std::string source;  // What the time was read from, such as "retry-after"; "" if no time was.
  Milliseconds earliest{};  // For kWait: when to send it again, at the earliest and at the latest.
  Milliseconds latest{};
  Milliseconds hold{};      // How long other requests to the same bucket must not be sent.
  std::string bucket;       // The name that the server gives to the bucket; "" if none.
  bool everywhere = false;  // `hold` counts for the whole host.
  struct Left {
    std::int64_t units = 0;
    Milliseconds reset{};
  };
  std::optional<Left> left;  // Of the quota with the least units, if it states a reset.

  // The wait for a random number from 0 to 1.
  [[nodiscard]] Milliseconds Wait(double random) const {
    return earliest + Milliseconds(static_cast<std::int64_t>(
                          static_cast<double>((latest - earliest).count()) * random));
  }
  // In a sentence, for logs.
  [[nodiscard]] std::string Explain() const {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%.3f s", static_cast<double>(hold.count()) / 1000);
    const std::string stated = source + " says " + seconds;
    const std::string_view why = reason;
    return why == "ok"         ? "no limit"
           : why == "used_up"  ? "the quota is used up: " + stated
           : why == "server"   ? "refused by a limit: " + stated
           : why == "backoff"  ? "refused by a limit that states no time: backing off"
           : why == "never"    ? "refused by a limit, and waiting does not help"
           : why == "attempts" ? "refused by a limit, and this was the last attempt"
           : why == "unsafe"
               ? "503, and the request may have been processed: it has no idempotency key"
           : why == "cap" ? "refused by a limit: " + stated + ", more than the cap"
                          : "refused by a limit: " + stated + ", more than the deadline leaves";
  }
};

// A response, as far as its limits are concerned.
struct Answer {
  int status = 0;
  FieldList fields;  // A name may come twice.
  std::string body;  // Needed of 403, 429 and 503 only; "" if it was not read.
};

// The request that was answered, and its caller.
struct Caller {
  std::int64_t now_ms = 0;  // The wall clock, in Unix milliseconds; for responses without a Date.
  std::string_view method = "GET";
  bool idempotency_key = false;        // The request carried one.
  int attempt = 1;                     // 1 for the first.
  std::optional<Milliseconds> left{};  // That the caller has; nothing: for ever.
};

// Never throws for what the response holds. Keeps no state: safe from any thread.
[[nodiscard]] inline Advice Advise(const Answer& response, const Caller& caller,
                                   const Policy& policy = {}) {
  using detail::Json;
  constexpr std::int64_t kDayMs = 24 * 3600 * 1000;
  constexpr std::int64_t kSecondaryMs = 60'000;  // GitHub's, which states no time.
  const int status = response.status;
  const detail::Fields fields(response.fields);
  const std::int64_t server_now_ms =
      detail::HttpDateMs(fields.Get("date"), caller.now_ms).value_or(caller.now_ms);

  // What the body says.
  Json body;
  if (status == 403 || status == 429 || status == 503) {
    if (auto read = detail::JsonReader::Read(response.body);
        read && read->kind == Json::Kind::kObject) {
      body = std::move(*read);
    }
  }
  const Json* const allowed = body.Find("allowed");
  const Json* const limits = body.Find("limits");
  const bool is_sluice = allowed != nullptr && allowed->kind == Json::Kind::kFalse &&
                         limits != nullptr && limits->kind == Json::Kind::kArray;
  const bool secondary =
      (status == 403 || status == 429) &&
      detail::Lower(body.Text("message")).find("secondary rate limit") != std::string::npos;
  const Json* const error = body.Find("error");

  // The time that the server states.
  std::int64_t stated_ms = 0;
  Advice advice;
  if (is_sluice && body.Integer("retry_after_ms").value_or(0) > 0) {
    stated_ms = *body.Integer("retry_after_ms");
    advice.source = "retry_after_ms";
  } else if (const auto ms = detail::DecimalMs(fields.Get("retry-after-ms"), 1);
             ms.value_or(0) > 0) {
    stated_ms = *ms;
    advice.source = "retry-after-ms";
  } else {
    const std::string_view text = fields.Get("retry-after");
    std::optional<std::int64_t> ms_after = detail::DecimalMs(text);
    if (!ms_after) {
      if (const auto at = detail::HttpDateMs(text, caller.now_ms)) {
        ms_after = *at - server_now_ms;
      }
    }
    if (ms_after.value_or(0) > 0) {
      stated_ms = *ms_after;
      advice.source = "retry-after";
    }
  }

  bool refused = status == 429 || status == 529 ||
                 ((status == 403 || status == 503) && stated_ms > 0) || secondary || is_sluice;
  const detail::QuotaFamily family =
      detail::QuotasOf(fields, refused, server_now_ms, caller.now_ms);
  const auto reset_ms = [&](std::int64_t headroom) {
    std::int64_t latest = 0;
    for (const detail::Quota& quota : family.quotas) {
      latest = quota.remaining <= headroom ? std::max(latest, quota.reset_ms) : latest;
    }
    return latest;
  };
  if (status == 403 && family.name == "x-ratelimit" && reset_ms(0) != 0 &&
      family.quotas[0].remaining == 0) {
    refused = true;  // GitHub's primary limit.
  }
  advice.bucket = fields.Get("x-ratelimit-bucket");
  if (advice.bucket.empty()) {
    advice.bucket = fields.Get("x-ratelimit-resource");
  }
  for (const detail::Quota& quota : family.quotas) {
    const Milliseconds reset(std::min(quota.reset_ms, kDayMs));
    if (quota.reset_ms != 0 &&
        (!advice.left || quota.remaining < advice.left->units ||
         (quota.remaining == advice.left->units && reset < advice.left->reset))) {
      advice.left = Advice::Left{quota.remaining, reset};
    }
  }

  if (!refused) {
    const std::int64_t hold_ms = std::min(reset_ms(policy.headroom), kDayMs);
    advice.hold = Milliseconds(hold_ms);
    advice.reason = hold_ms != 0 ? "used_up" : "ok";
    advice.source = hold_ms != 0 ? family.name : "";
    return advice;
  }
  const bool spent_for_good = error != nullptr && error->Text("code") == "insufficient_quota";
  if (fields.Get("x-should-retry") == "false" || spent_for_good || (is_sluice && stated_ms == 0)) {
    advice.action = Advice::Action::kGiveUp;
    advice.reason = "never";
    advice.source.clear();
    return advice;
  }
  advice.everywhere = secondary || fields.Get("x-ratelimit-global") == "true" ||
                      fields.Get("x-ratelimit-scope") == "global";
  const std::int64_t cap_ms = policy.cap.count();
  if (stated_ms == 0) {
    stated_ms = reset_ms(0);
    advice.source = family.name;
  }
  if (stated_ms == 0) {
    const std::int64_t floor_ms = secondary ? kSecondaryMs : 0;
    const std::int64_t most_ms = std::max(cap_ms, floor_ms);
    stated_ms = std::min(std::max<std::int64_t>(policy.base.count(), floor_ms), most_ms);
    for (int i = 1; i < caller.attempt && stated_ms < most_ms; ++i) {
      stated_ms = std::min(stated_ms * 2, most_ms);
    }
    advice.source = "backoff";
  }
  advice.hold = Milliseconds(std::min(stated_ms, kDayMs));

  static constexpr std::string_view kIdempotent = " GET HEAD OPTIONS TRACE PUT DELETE ";
  std::string method = " ";
  for (const char c : caller.method) {
    method += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  method += ' ';
  const bool repeatable =
      caller.idempotency_key || kIdempotent.find(method) != std::string_view::npos;
  advice.action = Advice::Action::kGiveUp;
  if (caller.attempt >= policy.max_attempts) {
    advice.reason = "attempts";
  } else if (status == 503 && !repeatable) {
    advice.reason = "unsafe";
  } else if (stated_ms > cap_ms) {
    advice.reason = "cap";
  } else if (caller.left && stated_ms >= caller.left->count()) {
    advice.reason = "deadline";
  } else {
    std::int64_t latest_ms =
        stated_ms + static_cast<std::int64_t>(static_cast<double>(stated_ms) * policy.jitter);
    latest_ms = caller.left ? std::min<std::int64_t>(latest_ms, caller.left->count()) : latest_ms;
    advice.action = Advice::Action::kWait;
    advice.reason = advice.source == "backoff" ? "backoff" : "server";
    advice.earliest = Milliseconds(stated_ms);
    advice.latest = Milliseconds(latest_ms);
  }
  return advice;
}

}  // namespace sluice_client
