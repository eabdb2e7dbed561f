#include "wire/native_redemption.h"

#include <exception>

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "base/utf8.h"

namespace sluice::wire {

namespace {

using Type = protozero::pbf_wire_type;

// Calls `take` for each field; `take` must read or skip it. False: the bytes are not a message, or
// `take` returned false.
template <class Take>
bool EachMessageField(std::string_view bytes, Take take) {
  try {
    protozero::pbf_reader message(bytes.data(), bytes.size());
    while (message.next()) {
      if (!take(message)) {
        return false;
      }
    }
  } catch (const std::exception&) {  // protozero throws only these.
    return false;
  }
  return true;
}

bool IsField(const protozero::pbf_reader& message, std::uint32_t tag, Type type) {
  return message.tag() == tag && message.wire_type() == type;
}

bool TakeText(protozero::pbf_reader& message, std::string_view& text) {
  text = message.get_view();
  return base::IsUtf8(text);
}

bool Skip(protozero::pbf_reader& message) {
  message.skip();
  return true;
}

}  // namespace

bool NativeHoldsRequest::Read(std::string_view bytes) {
  holds.clear();
  return EachMessageField(bytes, [this](protozero::pbf_reader& message) {
    if (!IsField(message, 1, Type::length_delimited)) {
      return Skip(message);
    }
    NativeHold& hold = holds.emplace_back();
    return EachMessageField(message.get_view(), [&hold](protozero::pbf_reader& field) {
      if (IsField(field, 1, Type::length_delimited)) {
        return TakeText(field, hold.rule);
      }
      return IsField(field, 2, Type::length_delimited) ? TakeText(field, hold.id) : Skip(field);
    });
  });
}

bool NativeSettleRequest::Read(std::string_view bytes) {
  *this = {};
  return EachMessageField(bytes, [this](protozero::pbf_reader& message) {
    if (IsField(message, 1, Type::length_delimited)) {
      return TakeText(message, reservation);
    }
    if (IsField(message, 2, Type::varint)) {
      cost = message.get_int64();
      return true;
    }
    if (!IsField(message, 3, Type::length_delimited)) {
      return Skip(message);
    }
    auto& [name, units] = costs.emplace_back();
    return EachMessageField(message.get_view(),
                            [&to = name, &spent = units](protozero::pbf_reader& field) {
                              if (IsField(field, 1, Type::length_delimited)) {
                                return TakeText(field, to);
                              }
                              if (!IsField(field, 2, Type::varint)) {
                                return Skip(field);
                              }
                              spent = field.get_int64();
                              return true;
                            });
  });
}

bool NativeRefundRequest::Read(std::string_view bytes) {
  receipt = {};
  return EachMessageField(bytes, [this](protozero::pbf_reader& message) {
    return IsField(message, 1, Type::length_delimited) ? TakeText(message, receipt) : Skip(message);
  });
}

void AppendHoldsResponse(std::string& out, std::int32_t count) {
  protozero::pbf_writer message(out);
  if (count != 0) {
    message.add_int32(1, count);
  }
}

void AppendSettled(std::string& out, std::string_view rule, std::int64_t charged,
                   std::int64_t cost) {
  protozero::pbf_writer message(out);
  protozero::pbf_writer item(message, 1);
  item.add_string(1, rule.data(), rule.size());
  item.add_int64(2, charged);
  item.add_int64(3, cost);
}

void AppendRefunded(std::string& out, std::string_view rule, std::int64_t units) {
  protozero::pbf_writer message(out);
  protozero::pbf_writer item(message, 1);
  item.add_string(1, rule.data(), rule.size());
  item.add_int64(2, units);
}

}  // namespace sluice::wire
