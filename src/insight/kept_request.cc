#include "insight/kept_request.h"

#include <cstring>
#include <string_view>
#include <type_traits>

#include "base/assert.h"
#include "rules/rule_set.h"

namespace sluice::insight {

namespace {

// The bits of a decision's flags.
enum : std::uint8_t {
  kIsAllowed = 1,
  kIsShadow = 2,
  kIsDegraded = 4,
  kIsCharged = 8,
  kIsLease = 16,
};

class Writer {
 public:
  explicit Writer(std::span<char> room) : room_(room) {}

  template <class Number>
  void Add(Number number) {
    static_assert(std::is_trivially_copyable_v<Number>);
    if (char* const to = Take(sizeof(number)); to != nullptr) {
      std::memcpy(to, &number, sizeof(number));
    }
  }
  void Add(std::string_view text) {
    Add(static_cast<std::uint16_t>(text.size()));
    if (char* const to = Take(text.size()); to != nullptr) {
      (void)text.copy(to, text.size());
    }
  }
  // 0: it was too much.
  [[nodiscard]] std::size_t size() const { return overflown_ ? 0 : size_; }

 private:
  [[nodiscard]] char* Take(std::size_t bytes) {
    overflown_ |= room_.size() - size_ < bytes;
    if (overflown_) {
      return nullptr;
    }
    size_ += bytes;
    return room_.data() + size_ - bytes;
  }

  std::span<char> room_;
  std::size_t size_ = 0;
  bool overflown_ = false;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <class Number>
  [[nodiscard]] Number Take() {
    SLUICE_DCHECK(rest_.size() >= sizeof(Number));
    Number number;
    std::memcpy(&number, rest_.data(), sizeof(number));
    rest_.remove_prefix(sizeof(number));
    return number;
  }
  [[nodiscard]] std::string_view Text() {
    const auto size = Take<std::uint16_t>();
    const std::string_view text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return text;
  }

 private:
  std::string_view rest_;
};

void EncodeDecision(const DecisionRecord& record, Writer& out) {
  const Decision& decision = *record.decision;
  out.Add(record.rule);
  out.Add(static_cast<std::uint8_t>(record.parts.size()));
  for (const core::KeyPart& part : record.parts) {
    out.Add(part.attribute);
    out.Add(part.type);
    out.Add(part.value);
  }
  out.Add(static_cast<std::uint8_t>(
      (decision.allowed ? kIsAllowed : 0) | (decision.shadow ? kIsShadow : 0) |
      (decision.degraded ? kIsDegraded : 0) | (record.charged ? kIsCharged : 0) |
      (record.lease ? kIsLease : 0)));
  out.Add(record.outcome);
  out.Add(decision.reason);
  out.Add(decision.limit);
  out.Add(decision.remaining);
  out.Add(decision.retry_after.count());
  out.Add(decision.reset_after.count());
  out.Add(record.cost.units);
}

void DecodeDecision(Reader& in, KeptDecision& kept) {
  kept.rule = in.Text();
  kept.parts.resize(in.Take<std::uint8_t>());
  for (core::KeyPart& part : kept.parts) {
    part.attribute = in.Text();
    part.type = in.Take<core::AttributeType>();
    part.value = in.Text();
  }
  const auto flags = in.Take<std::uint8_t>();
  Decision& decision = kept.decision;
  decision.allowed = (flags & kIsAllowed) != 0;
  decision.shadow = (flags & kIsShadow) != 0;
  decision.degraded = (flags & kIsDegraded) != 0;
  kept.charged = (flags & kIsCharged) != 0;
  kept.lease = (flags & kIsLease) != 0;
  kept.outcome = in.Take<Outcome>();
  decision.reason = in.Take<Reason>();
  decision.limit = in.Take<Units>();
  decision.remaining = in.Take<Units>();
  decision.retry_after = Duration(in.Take<Duration::rep>());
  decision.reset_after = Duration(in.Take<Duration::rep>());
  kept.cost.units = in.Take<Units>();
}

}  // namespace

std::size_t EncodeRequest(const RequestRecord& request, std::uint8_t uses, bool with_attributes,
                          std::span<char> room) {
  Writer out(room);
  out.Add(request.now.time_since_epoch().count());
  out.Add(request.request_id != nullptr ? request.request_id->View() : std::string_view());
  out.Add(request.trace != nullptr ? request.trace->TraceIdText() : std::string_view());
  out.Add(request.listener);
  out.Add(request.judged_by);
  out.Add(uses);
  out.Add(static_cast<std::uint8_t>(request.allowed));
  out.Add(request.cost.units);
  const Attributes attributes = with_attributes ? request.attributes : Attributes();
  out.Add(static_cast<std::uint16_t>(attributes.size()));
  for (const Attribute& attribute : attributes) {
    rules::ValueHash::Text hash{};
    out.Add(attribute.name);
    out.Add(request.rules != nullptr ? request.rules->ShownValue(attribute, hash)
                                     : attribute.value);
  }
  const std::size_t count = request.decisions.size();
  out.Add(static_cast<std::uint16_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    EncodeDecision(request.decisions.At(i), out);
  }
  return out.size();
}

void DecodeRequest(std::string_view bytes, KeptRequest& request) {
  Reader in(bytes);
  request.at = WallInstant(Duration(in.Take<Duration::rep>()));
  request.request_id = in.Text();
  request.trace_id = in.Text();
  request.listener = in.Text();
  request.judged_by = in.Take<JudgedBy>();
  request.uses = in.Take<std::uint8_t>();
  request.allowed = in.Take<std::uint8_t>() != 0;
  request.cost.units = in.Take<Units>();
  request.attributes.resize(in.Take<std::uint16_t>());
  for (Attribute& attribute : request.attributes) {
    attribute.name = in.Text();
    attribute.value = in.Text();
  }
  request.decisions.resize(in.Take<std::uint16_t>());
  for (KeptDecision& decision : request.decisions) {
    DecodeDecision(in, decision);
  }
}

}  // namespace sluice::insight
