#include "sluice/limiter.h"

#include <fstream>
#include <iterator>
#include <utility>

#include "base/clock.h"
#include "base/fault.h"
#include "rules/rule_set.h"
#include "service/limiter_service.h"
#include "service/service_metrics.h"
#include "store/table.h"

namespace sluice {

namespace {

Hold HoldOf(const service::RuleDecision& made) {
  Hold hold{.rule = made.rule->id, .id = made.hold, .key = {}};
  hold.key.reserve(made.parts.size());
  for (const core::KeyPart& part : made.parts) {
    hold.key.push_back({.attribute = std::string(part.attribute),
                        .value = std::string(part.value),
                        .is_address = part.type == core::AttributeType::kIp});
  }
  return hold;
}

service::HoldChange::NamedHold NamedHoldOf(const Hold& hold) {
  std::vector<core::KeyPart> parts;
  parts.reserve(hold.key.size());
  for (const Hold::Part& part : hold.key) {
    parts.push_back(
        {.attribute = part.attribute,
         .type = part.is_address ? core::AttributeType::kIp : core::AttributeType::kText,
         .value = part.value});
  }
  return {.key = core::Key({.rule = hold.rule, .formerly = {}, .parts = parts}),
          .hold = {.id = hold.id}};
}

// One check with reusable memory. The table answers during Submit(), so one per thread serves every
// limiter that the thread uses.
class InProcessCheck final : public service::Completion {
 public:
  service::RuleCheck& check() { return check_; }
  void Submit(service::LimiterService& service, Answer* into) {
    into_ = into;
    service.Submit(operation_);
  }
  [[nodiscard]] bool allowed() const { return allowed_; }

 private:
  void OnCompleted(service::Operation& /*operation*/) noexcept override {
    const service::Verdict& verdict = check_.verdict;
    allowed_ = verdict.allowed;
    if (into_ == nullptr || !verdict.request_error.empty()) {
      return;
    }
    const service::RuleDecision* governing = verdict.governing_decision();
    into_->allowed = verdict.allowed;
    into_->decision =
        governing == nullptr
            ? Decision{.allowed = verdict.allowed, .limit = kUnlimited, .remaining = kUnlimited}
            : governing->decision;
    into_->wait = verdict.wait;
    for (const service::RuleDecision& made : verdict.decisions) {
      into_->rules.push_back({.name = made.rule->id, .decision = made.decision});
      if (made.hold != 0) {
        into_->holds.push_back(HoldOf(made));
      }
    }
  }

  service::Operation operation_{*this};
  service::RuleCheck& check_ = operation_.Ask<service::RuleCheck>();
  Answer* into_ = nullptr;
  bool allowed_ = false;
};

InProcessCheck& CheckOfThisThread() {
  thread_local InProcessCheck check;
  return check;
}

bool InRange(Units units) {
  return units >= 0 && units <= kMaxUnits;
}

Result<std::string> TextOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) {
    return tl::unexpected(
        Error{.message = "cannot be read", .place = {.file = path, .line = 0, .column = 0}});
  }
  return text;
}

}  // namespace

class Limiter::Engine {
 public:
  static Result<std::unique_ptr<Engine>> Create(const LimiterOptions& options) {
    std::unique_ptr<Engine> engine(new Engine);
    auto table = store::Table::Create(
        {.path = {}, .keys = options.keys, .when_full = options.when_full}, engine->clock_);
    if (!table) {
      return tl::unexpected(std::move(table.error()));
    }
    engine->table_ = std::move(*table);
    engine->service_ = std::make_unique<service::LimiterService>(*engine->table_, engine->metrics_);
    return engine;
  }

  Result<void> Load(std::string name, std::string text) {
    rules::Findings findings;
    const rules::SourceText source{.name = std::move(name), .text = std::move(text)};
    const auto running = service_->Rules();
    auto rules = rules::RuleSet::Build({&source, 1}, running.get(), findings);
    if (rules == nullptr) {
      std::string all;
      for (const Error& error : findings.errors) {
        all += (all.empty() ? "" : "\n") + error.Text();
      }
      return Fault(std::move(all));
    }
    service_->SetRules(std::move(rules));
    return {};
  }

  Result<Answer> Decide(Attributes attributes, Cost cost, bool peek) {
    if (!InRange(cost.units)) {
      return Fault("the cost must be from 0 to 999999999999999");
    }
    Answer answer;
    InProcessCheck& check = CheckOfThisThread();
    Submit(check, attributes, cost, peek, &answer);
    if (std::string& wrong = check.check().verdict.request_error; !wrong.empty()) {
      return Fault(std::move(wrong));
    }
    return answer;
  }

  bool Allow(Attributes attributes, Cost cost) {
    if (!InRange(cost.units)) {
      return false;
    }
    InProcessCheck& check = CheckOfThisThread();
    Submit(check, attributes, cost, false, nullptr);
    return check.allowed();
  }

  Result<void> Change(service::KeyChange::Kind kind, Attributes attributes, Units units) {
    service::NoCompletion none;
    service::Operation operation(none);
    auto& change = operation.Ask<service::KeyChange>();
    change.kind = kind;
    change.attributes = attributes;
    change.units = units;
    service_->Submit(operation);
    return change.request_error.empty() ? Result<void>() : Fault(std::move(change.request_error));
  }

  bool Release(const service::HoldChange::NamedHold& hold) {
    service::NoCompletion none;
    service::Operation operation(none);
    auto& release = operation.Ask<service::HoldChange>();
    release.holds.push_back(hold);
    service_->Submit(operation);
    return release.done == 1;
  }

 private:
  Engine() = default;

  void Submit(InProcessCheck& check, Attributes attributes, Cost cost, bool peek, Answer* into) {
    check.check().attributes = attributes;
    check.check().cost = cost;
    check.check().peek = peek;
    check.Submit(*service_, into);
  }

  service::ServiceMetrics metrics_{/*time_decisions=*/false};
  base::SystemClock clock_;
  std::unique_ptr<store::Table> table_;
  std::unique_ptr<service::LimiterService> service_;
};

Limiter::Limiter(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
Limiter::~Limiter() = default;
Limiter::Limiter(Limiter&&) noexcept = default;
Limiter& Limiter::operator=(Limiter&&) noexcept = default;

Result<Limiter> Limiter::FromFile(const std::string& path, const LimiterOptions& options) {
  return Engine::Create(options).and_then([&](std::unique_ptr<Engine> engine) -> Result<Limiter> {
    Limiter limiter(std::move(engine));
    return limiter.LoadFile(path).map([&] { return std::move(limiter); });
  });
}

Result<Limiter> Limiter::FromYaml(std::string_view yaml, const LimiterOptions& options) {
  return Engine::Create(options).and_then([&](std::unique_ptr<Engine> engine) -> Result<Limiter> {
    Limiter limiter(std::move(engine));
    return limiter.LoadYaml(yaml).map([&] { return std::move(limiter); });
  });
}

Result<void> Limiter::LoadFile(const std::string& path) {
  return TextOf(path).and_then(
      [&](std::string text) { return engine_->Load(path, std::move(text)); });
}

Result<void> Limiter::LoadYaml(std::string_view yaml) {
  return engine_->Load("rules", std::string(yaml));
}

Result<Answer> Limiter::Check(Attributes attributes, Cost cost) {
  return engine_->Decide(attributes, cost, false);
}

Result<Answer> Limiter::Peek(Attributes attributes, Cost cost) {
  return engine_->Decide(attributes, cost, true);
}

bool Limiter::Allow(Attributes attributes, Cost cost) {
  return engine_->Allow(attributes, cost);
}

Result<void> Limiter::Refund(Attributes attributes, Units units) {
  if (!InRange(units)) {
    return Fault("a refund must be from 0 to 999999999999999 units");
  }
  return engine_->Change(service::KeyChange::Kind::kRefund, attributes, units);
}

Result<void> Limiter::Reset(Attributes attributes) {
  return engine_->Change(service::KeyChange::Kind::kReset, attributes, 0);
}

bool Limiter::Release(const Hold& hold) {
  return engine_->Release(NamedHoldOf(hold));
}

}  // namespace sluice
