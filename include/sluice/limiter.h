#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/attribute.h"
#include "sluice/decision.h"
#include "sluice/reason.h"
#include "sluice/result.h"
#include "sluice/time.h"

namespace sluice {

// What happens when the table is full and a new key comes. kEvict: the key nearest to
// fresh is forgotten. kDeny: the new key is denied (Reason::kStoreFull). kAllow: it passes
// unmetered.
enum class WhenFull : std::uint8_t { kEvict, kDeny, kAllow };

struct LimiterOptions {
  std::uint64_t keys = 1'000'000;  // How many keys are remembered at once; about 80 bytes each,
                                   // taken when the limiter is made.
  WhenFull when_full = WhenFull::kEvict;
};

// Names one unit, or `cost` units, of a concurrency rule that a check was granted.
struct Hold {
  struct Part {
    std::string attribute;
    std::string value;
    bool is_address = false;
  };

  std::string rule;
  std::uint64_t id = 0;
  std::vector<Part> key;  // Whose.
};

// What one rule said.
struct RuleAnswer {
  std::string name;  // The rule's id.
  Decision decision;
};

// The answer to one request.
struct Answer {
  bool allowed = true;
  // The numbers to show: those of the most restrictive rule. Limit and remaining are
  // kUnlimited where no rule counts anything.
  Decision decision;
  Duration wait{};                // Allowed, but to go on only after this (shaping).
  std::vector<RuleAnswer> rules;  // Every rule that applied, as declared; shadow ones too.
  std::vector<Hold> holds;        // To give back when the request is over.
};

// Rate limits in this process: the rules of a file, state in private memory, no socket and no
// thread.
//
// Safe from any thread; a movable handle. Attributes are names and texts
// ({"user_id", "u_42"}); they need to live only as long as the call.
class Limiter {
 public:
  // The rules of `path` (`yaml`). The error lists everything that is wrong with them, a
  // line each.
  [[nodiscard]] static Result<Limiter> FromFile(const std::string& path,
                                                const LimiterOptions& options = {});
  [[nodiscard]] static Result<Limiter> FromYaml(std::string_view yaml,
                                                const LimiterOptions& options = {});
  ~Limiter();
  Limiter(Limiter&&) noexcept;
  Limiter& operator=(Limiter&&) noexcept;

  // Puts other rules in force; what keys have used carries over. On an error the running
  // rules stay.
  [[nodiscard]] Result<void> LoadFile(const std::string& path);
  [[nodiscard]] Result<void> LoadYaml(std::string_view yaml);

  // May this request go on? All rules that apply allow and are charged, or none is charged.
  // `cost`: 0 to kMaxUnits units. Errors are the request's: a cost out of range, an attribute
  // that a rule needs as its cost absent or no number, an ip that is no address.
  [[nodiscard]] Result<Answer> Check(Attributes attributes, Cost cost = {});
  // The same, without spending: the answer of such a check, with what is left now.
  [[nodiscard]] Result<Answer> Peek(Attributes attributes, Cost cost = {});

  // The fast way: whether it may go on. Nothing is allocated; an error of the request counts
  // as no.
  [[nodiscard]] bool Allow(Attributes attributes, Cost cost = {});

  // Gives `units` back to every rule that applies, never above its whole quota.
  Result<void> Refund(Attributes attributes, Units units);
  // Makes every key that applies fresh.
  Result<void> Reset(Attributes attributes);
  // Gives a hold back. False if it is gone already: released before, or expired.
  bool Release(const Hold& hold);

  // For literals: limiter.Check({{"user_id", id}, {"plan", "pro"}}).
  [[nodiscard]] Result<Answer> Check(std::initializer_list<Attribute> attributes, Cost cost = {}) {
    return Check(Attributes(attributes.begin(), attributes.size()), cost);
  }
  [[nodiscard]] Result<Answer> Peek(std::initializer_list<Attribute> attributes, Cost cost = {}) {
    return Peek(Attributes(attributes.begin(), attributes.size()), cost);
  }
  [[nodiscard]] bool Allow(std::initializer_list<Attribute> attributes, Cost cost = {}) {
    return Allow(Attributes(attributes.begin(), attributes.size()), cost);
  }

 private:
  class Engine;
  explicit Limiter(std::unique_ptr<Engine> engine);

  std::unique_ptr<Engine> engine_;
};

}  // namespace sluice
