#include "logs/row_reader.h"

namespace sluice::logs {

namespace {

// An absent value in most logs.
bool IsAbsent(std::string_view value) {
  return value.empty() || value == "-";
}

}  // namespace

RowReader::Column RowReader::ColumnNamed(std::string_view name) const {
  Column column{.role = RoleOf(name)};
  if (!options_.time.name.empty()) {
    if (name == options_.time.name) {
      column.role = {.kind = ColumnKind::kTime};
    } else if (column.role.kind == ColumnKind::kTime) {
      column.role = {};
    }
  }
  const std::vector<std::string>& wanted = *options_.wanted;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == name) {
      column.wanted = static_cast<int>(i);
    }
  }
  return column;
}

void RowReader::Begin(LogRecord& record) {
  record.Clear(options_.wanted->size());
  time_ = date_ = request_line_ = target_ = query_ = {};
  field_ranks_.fill(255);
}

void RowReader::Set(LogRecord& record, const Column& column, std::string_view value) {
  if (IsAbsent(value)) {
    return;
  }
  if (column.wanted >= 0) {
    record.columns[static_cast<std::size_t>(column.wanted)] = value;
  }
  const ColumnRole& role = column.role;
  switch (role.kind) {
    case ColumnKind::kPlain:
      return;
    case ColumnKind::kTime:
      time_.Offer(value, role.rank);
      return;
    case ColumnKind::kDate:
      date_.Offer(value, role.rank);
      return;
    case ColumnKind::kRequestLine:
      request_line_.Offer(value, role.rank);
      return;
    case ColumnKind::kTarget:
      target_.Offer(value, role.rank);
      return;
    case ColumnKind::kQuery:
      query_.Offer(value, role.rank);
      return;
    case ColumnKind::kField:
    case ColumnKind::kAddressPort:
      break;
  }
  std::uint8_t& rank = field_ranks_[static_cast<std::size_t>(role.field)];
  if (role.rank >= rank) {
    return;
  }
  rank = role.rank;
  if (role.kind == ColumnKind::kAddressPort) {
    SetClient(record, WithoutLastPort(value));
  } else if (role.field == Field::kIp) {
    SetClient(record, value);
  } else if (role.field == Field::kHost) {
    record.Set(role.field, WithoutPort(value));
  } else if (role.field == Field::kForwardedFor) {
    record.Set(role.field, FirstOfList(value));
  } else {
    record.Set(role.field, value);
  }
}

std::optional<WallInstant> RowReader::ReadTime() const {
  if (date_.value.data() != nullptr && time_.value.size() > 2 && time_.value[2] == ':') {
    return options_.stamps->DateAndTime(date_.value, time_.value);
  }
  const std::string_view text = time_.value.data() != nullptr ? time_.value : date_.value;
  return options_.time.unit ? StampReader::Epoch(text, *options_.time.unit)
                            : options_.stamps->Any(text);
}

std::string_view RowReader::End(LogRecord& record) {
  if (time_.value.data() == nullptr && date_.value.data() == nullptr) {
    return options_.time.name.empty() ? "no time" : "it does not have the column of --time";
  }
  const std::optional<WallInstant> at = ReadTime();
  if (!at) {
    return "the time cannot be read";
  }
  record.at = *at;
  if (record.Get(Field::kClient).data() == nullptr &&
      record.Get(Field::kForwardedFor).data() != nullptr) {
    SetClient(record, record.Get(Field::kForwardedFor));  // The only one in Envoy's text format.
  }
  const std::string_view endpoint = record.Get(Field::kEndpoint);  // A column of that name.
  if (request_line_.value.data() != nullptr) {
    const std::string_view method = record.Get(Field::kMethod);
    SetRequestLine(record, request_line_.value);
    if (method.data() != nullptr) {
      record.Set(Field::kMethod, method);
    }
  }
  if (target_.value.data() != nullptr) {
    std::string_view target = target_.value;
    if (query_.value.data() != nullptr && target.find('?') == target.npos) {
      joined_.assign(target);
      joined_ += query_.value.front() == '?' ? "" : "?";
      joined_ += query_.value;
      target = joined_;
    }
    SetTarget(record, target);
  }
  if (endpoint.data() != nullptr) {
    record.Set(Field::kEndpoint, endpoint);
  }
  return "";
}

}  // namespace sluice::logs
