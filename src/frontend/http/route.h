#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "control/mode_file.h"
#include "control/rule_controller.h"
#include "envoy/rate_limit_service.h"
#include "frontend/grpc/front_end_settings.h"
#include "frontend/http/exchange.h"
#include "frontend/http/front_end_settings.h"
#include "insight/history.h"
#include "insight/insight.h"
#include "lease/lease_store.h"
#include "records/record_collector.h"
#include "service/fallback.h"
#include "service/limiter_service.h"
#include "service/service_metrics.h"
#include "telemetry/registry.h"
#include "wire/http_request.h"

namespace sluice::frontend::http {

class ListenerDescription;

// Whether this daemon accepts traffic: what /readyz says. Off until the front ends are open and
// again from the first signal to stop. Any thread.
class Readiness {
 public:
  [[nodiscard]] bool ready() const { return ready_.load(std::memory_order_relaxed); }
  void Set(bool ready) { ready_.store(ready, std::memory_order_relaxed); }

 private:
  std::atomic<bool> ready_{false};
};

// What an admin listener's handlers act on. All outlive the front end.
struct AdminContext {
  control::RuleController& rules;
  control::ModeFile& modes;
  service::LimiterService& service;
  service::ServiceMetrics& metrics;
  insight::Insight& insight;
  records::RecordCollector& decisions;
  // Of a store that nodes share: what decides while it is away, and what is borrowed from it.
  // nullptr: the table is the store.
  const service::Fallback* fallback = nullptr;
  lease::LeaseStore* leases = nullptr;
  // The last hour, up to now. None: its route is not served.
  std::function<const insight::History&()> history{};
};

// What the paths of envoyproxy/ratelimit act on. All outlive the front end.
struct EnvoyContext {
  envoy::RateLimitService& rate_limits;
  const grpc::Health& health;
};

// What the handlers of one listener act on. All outlive the router.
struct Backend {
  const FrontEndSettings& settings;
  service::LimiterService& service;
  const Readiness& readiness;
  const telemetry::Registry& registry;
  ListenerDescription& description;
};

// A request that a route matched.
struct RoutedRequest {
  const wire::HttpRequest& request;
  std::string_view tail;  // The text in place of the route's {name}: see Route::Tail.
  const Backend& at;
  Exchange& exchange;
};

// The methods of a route. HEAD goes with GET.
class Methods {
 public:
  constexpr Methods(std::initializer_list<wire::HttpMethod> methods) {
    for (const wire::HttpMethod method : methods) {
      bits_ |= BitOf(method);
      if (method == wire::HttpMethod::kGet) {
        bits_ |= BitOf(wire::HttpMethod::kHead);
      }
    }
  }
  // Every method, including those without a name in wire::HttpMethod.
  static constexpr Methods Any() {
    Methods any{};
    any.bits_ = ~0U;
    return any;
  }

  [[nodiscard]] constexpr bool Has(wire::HttpMethod method) const {
    return (bits_ & BitOf(method)) != 0;
  }
  [[nodiscard]] constexpr bool is_any() const { return bits_ == Any().bits_; }
  // In the form of the Allow field: "GET, HEAD, PUT".
  [[nodiscard]] std::string Text() const;

 private:
  static constexpr unsigned BitOf(wire::HttpMethod method) {
    return 1U << static_cast<unsigned>(method);
  }

  unsigned bits_ = 0;
};

// One row of the table of routes in routes.cc, which is the one place that says what is served:
// dispatch, 404, 405 with Allow, and each listener's /openapi.json derive from it.
struct Route {
  enum class Tail : std::uint8_t {
    kNone,     // The path is the whole path.
    kSegment,  // It ends with /{name}, which matches one segment, still encoded and not empty.
    kRest,     // It ends with /{name}, which matches the rest of the path from this '/' on.
  };
  enum class Needs : std::uint8_t {
    kNothing,
    kAdminState,  // FrontEndSettings::context.
    kHistory,     // AdminContext::history.
    kEnvoy,       // FrontEndSettings::envoy.
    kConsole,     // FrontEndSettings::console.
  };

  std::string_view path;
  Methods methods;
  std::initializer_list<Role> roles;  // The listeners that serve it.
  void (*handle)(const RoutedRequest& routed);
  Tail tail = Tail::kNone;
  Needs needs = Needs::kNothing;
  bool open = false;                   // Served without the listener's token.
  std::size_t body_bytes = 64 * 1024;  // The longest body. A longer one is answered with 413.
};

// A route as one listener serves it.
struct ServedRoute {
  const Route* route;
  std::string_view path;    // route->path, except for the metrics path that a listener may choose.
  std::string_view prefix;  // The part before {name}: the whole path if there is none.

  // Whether `path` is this route's; `tail` is then the text that its {name} matched.
  [[nodiscard]] bool Matches(std::string_view path, std::string_view& tail) const;
};

// The routes that a listener of these settings serves, those asked for most often first. They
// refer to `settings`.
[[nodiscard]] std::vector<ServedRoute> RoutesOf(const FrontEndSettings& settings);

}  // namespace sluice::frontend::http
