#include "wire/native_check.h"

#include <exception>

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "base/utf8.h"

namespace sluice::wire {

namespace {

using Type = protozero::pbf_wire_type;

void AppendDuration(protozero::pbf_writer& message, protozero::pbf_tag_type tag, std::int64_t ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  protozero::pbf_writer duration(message, tag);
  duration.add_int64(1, ns / kSecond);
  duration.add_int32(2, static_cast<std::int32_t>(ns % kSecond));
}

// The fields that a response and each of its decisions have, with the same numbers.
void AppendNumbers(protozero::pbf_writer& message, const NativeDecision& decision) {
  if (!decision.rule.empty()) {
    message.add_string(2, decision.rule.data(), decision.rule.size());
  }
  if (!decision.reason.empty()) {
    message.add_string(3, decision.reason.data(), decision.reason.size());
  }
  if (decision.limit) {
    message.add_int64(4, *decision.limit);
  }
  if (decision.remaining) {
    message.add_int64(5, *decision.remaining);
  }
  if (decision.retry_after_ns) {
    AppendDuration(message, 6, *decision.retry_after_ns);
  }
  AppendDuration(message, 7, decision.reset_after_ns);
  if (decision.degraded) {
    message.add_bool(9, true);
  }
}

}  // namespace

bool NativeCheckRequest::Read(std::string_view bytes) {
  attributes.clear();
  cost.reset();
  rule = {};
  peek = receipt = reserve = false;
  bool sound = true;
  const auto text = [&sound](std::string_view view) {
    sound = sound && base::IsUtf8(view);
    return view;
  };
  try {
    protozero::pbf_reader message(bytes.data(), bytes.size());
    while (message.next()) {
      const bool is_bytes = message.wire_type() == Type::length_delimited;
      const bool is_varint = message.wire_type() == Type::varint;
      if (message.tag() == 1 && is_bytes) {
        std::pair<std::string_view, std::string_view> attribute;
        protozero::pbf_reader entry(message.get_view());
        while (entry.next()) {
          const bool is_text = entry.wire_type() == Type::length_delimited;
          if (entry.tag() == 1 && is_text) {
            attribute.first = text(entry.get_view());
          } else if (entry.tag() == 2 && is_text) {
            attribute.second = text(entry.get_view());
          } else {
            entry.skip();
          }
        }
        attributes.push_back(attribute);
      } else if (message.tag() == 2 && is_varint) {
        cost = message.get_int64();
      } else if (message.tag() == 3 && is_bytes) {
        rule = text(message.get_view());
      } else if (message.tag() == 4 && is_varint) {
        peek = message.get_uint64() !=
               0;  // get_bool() would read past the end of a truncated message.
      } else if (message.tag() == 5 && is_varint) {
        receipt = message.get_uint64() != 0;
      } else if (message.tag() == 6 && is_varint) {
        reserve = message.get_uint64() != 0;
      } else {
        message.skip();
      }
    }
  } catch (const std::exception&) {  // protozero throws only these.
    return false;
  }
  return sound;
}

void NativeCheckResponse::AppendMessage(std::string& out) const {
  protozero::pbf_writer message(out);
  if (allowed) {
    message.add_bool(1, true);
  }
  if (governing >= 0) {
    AppendNumbers(message, decisions[static_cast<std::size_t>(governing)]);
  }
  if (wait_ns > 0) {
    AppendDuration(message, 8, wait_ns);
  }
  for (const NativeDecision& decision : decisions) {
    protozero::pbf_writer item(message, 10);
    if (decision.allowed) {
      item.add_bool(1, true);
    }
    AppendNumbers(item, decision);
    if (decision.shadow) {
      item.add_bool(8, true);
    }
  }
  for (const NativeHold& hold : holds) {
    protozero::pbf_writer item(message, 11);
    item.add_string(1, hold.rule.data(), hold.rule.size());
    item.add_string(2, hold.id.data(), hold.id.size());
  }
  if (!receipt.empty()) {
    message.add_string(12, receipt.data(), receipt.size());
  }
  if (!reservation.empty()) {
    message.add_string(13, reservation.data(), reservation.size());
  }
  if (kill_switch) {
    message.add_bool(14, true);
  }
}

}  // namespace sluice::wire
