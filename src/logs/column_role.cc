#include "logs/column_role.h"

#include <algorithm>
#include <array>
#include <utility>

#include "logs/log_record.h"
#include "wire/ascii.h"

namespace sluice::logs {

namespace {

struct Known {
  std::string_view name;
  ColumnRole role;
};

constexpr ColumnRole Time(std::uint8_t rank = 0) {
  return {.kind = ColumnKind::kTime, .rank = rank};
}
constexpr ColumnRole Of(Field field, std::uint8_t rank = 0) {
  return {.kind = ColumnKind::kField, .field = field, .rank = rank};
}
constexpr ColumnRole As(ColumnKind kind, std::uint8_t rank = 0) {
  return {.kind = kind, .rank = rank};
}

// From the names that these programs write: NGINX's variables, Caddy ("request.client_ip"), Traefik
// ("ClientHost"), Envoy ("start_time", "downstream_remote_address"), AWS load balancers
// ("client:port", "elb_status_code"), Google's ("httpRequest.remoteIp"), W3C ("cs-uri-stem"),
// Cloudflare's Logpush ("EdgeStartTimestamp").
constexpr Known kKnown[] = {
    {"timestamp", Time()},
    {"time", Time()},
    {"ts", Time()},
    {"datetime", Time()},
    {"timelocal", Time()},
    {"timeiso8601", Time()},
    {"msec", Time()},
    {"starttime", Time()},
    {"startutc", Time()},
    {"startlocal", Time(1)},
    {"eventtime", Time(1)},
    {"requesttimestamp", Time(1)},
    {"requestcreationtime", Time(1)},
    {"edgestarttimestamp", Time()},
    {"logtime", Time(2)},
    {"epoch", Time(2)},
    {"createdat", Time(3)},
    {"receivetimestamp", Time(3)},
    {"edgeendtimestamp", Time(3)},
    {"date", As(ColumnKind::kDate)},

    {"ip", Of(Field::kIp)},
    {"cip", Of(Field::kIp, 1)},
    {"clientip", Of(Field::kIp, 1)},
    {"requestclientip", Of(Field::kIp, 1)},
    {"realip", Of(Field::kIp, 1)},
    {"clientaddr", Of(Field::kIp, 1)},
    {"clientaddress", Of(Field::kIp, 1)},
    {"clienthost", Of(Field::kIp, 1)},
    {"srcip", Of(Field::kIp, 1)},
    {"sourceip", Of(Field::kIp, 1)},
    {"ipaddress", Of(Field::kIp, 1)},
    {"remoteip", Of(Field::kIp, 2)},
    {"remoteaddr", Of(Field::kIp, 2)},
    {"remoteaddress", Of(Field::kIp, 2)},
    {"remotehost", Of(Field::kIp, 2)},
    {"realipremoteaddr", Of(Field::kIp, 3)},
    {"cfconnectingip", Of(Field::kIp, 1)},
    {"httpcfconnectingip", Of(Field::kIp, 1)},
    {"requestremoteip", Of(Field::kIp, 2)},
    {"requestremoteaddr", Of(Field::kIp, 2)},
    {"httprequestremoteip", Of(Field::kIp, 2)},
    {"downstreamremoteaddress", Of(Field::kIp, 2)},
    {"downstreamremoteaddresswithoutport", Of(Field::kIp, 2)},
    {"downstreamdirectremoteaddress", Of(Field::kIp, 3)},
    {"client", Of(Field::kIp, 3)},
    {"peer", Of(Field::kIp, 3)},

    {"method", Of(Field::kMethod)},
    {"httpmethod", Of(Field::kMethod)},
    {"requestmethod", Of(Field::kMethod)},
    {"csmethod", Of(Field::kMethod)},
    {"httprequestrequestmethod", Of(Field::kMethod)},
    {"clientrequestmethod", Of(Field::kMethod)},
    {"verb", Of(Field::kMethod, 1)},

    {"request", As(ColumnKind::kRequestLine)},
    {"requestline", As(ColumnKind::kRequestLine)},

    {"xenvoyoriginalpath", As(ColumnKind::kTarget)},
    {"requesturi", As(ColumnKind::kTarget, 1)},
    {"clientrequesturi", As(ColumnKind::kTarget, 1)},
    {"clientrequestpath", As(ColumnKind::kTarget, 2)},
    {"requesturl", As(ColumnKind::kTarget, 1)},
    {"requestpath", As(ColumnKind::kTarget, 1)},
    {"httprequestrequesturl", As(ColumnKind::kTarget, 1)},
    {"csuristem", As(ColumnKind::kTarget, 1)},
    {"uri", As(ColumnKind::kTarget, 1)},
    {"url", As(ColumnKind::kTarget, 1)},
    {"path", As(ColumnKind::kTarget, 1)},
    {"target", As(ColumnKind::kTarget, 2)},
    {"csuriquery", As(ColumnKind::kQuery)},
    {"query", As(ColumnKind::kQuery)},
    {"querystring", As(ColumnKind::kQuery)},
    {"args", As(ColumnKind::kQuery)},
    {"endpoint", Of(Field::kEndpoint)},

    {"protocol", Of(Field::kProtocol)},
    {"requestproto", Of(Field::kProtocol)},
    {"requestprotocol", Of(Field::kProtocol)},
    {"csversion", Of(Field::kProtocol)},
    {"csprotocolversion", Of(Field::kProtocol)},
    {"serverprotocol", Of(Field::kProtocol)},
    {"clientrequestprotocol", Of(Field::kProtocol)},
    {"proto", Of(Field::kProtocol, 1)},
    {"httpversion", Of(Field::kProtocol, 1)},

    {"host", Of(Field::kHost)},
    {"httphost", Of(Field::kHost)},
    {"xhostheader", Of(Field::kHost)},  // CloudFront: the viewer's; cs(Host) is its own name.
    {"cshost", Of(Field::kHost, 1)},
    {"clientrequesthost", Of(Field::kHost)},
    {"requesthost", Of(Field::kHost)},
    {"authority", Of(Field::kHost)},
    {"vhost", Of(Field::kHost)},
    {"domainname", Of(Field::kHost, 1)},
    {"domain", Of(Field::kHost, 1)},
    {"servername", Of(Field::kHost, 2)},

    {"port", Of(Field::kPort)},
    {"sport", Of(Field::kPort)},
    {"serverport", Of(Field::kPort)},

    {"status", Of(Field::kStatus)},
    {"statuscode", Of(Field::kStatus)},
    {"scstatus", Of(Field::kStatus)},
    {"responsecode", Of(Field::kStatus)},
    {"downstreamstatus", Of(Field::kStatus)},
    {"elbstatuscode", Of(Field::kStatus)},
    {"edgeresponsestatus", Of(Field::kStatus)},
    {"httpstatus", Of(Field::kStatus)},
    {"httprequeststatus", Of(Field::kStatus)},
    {"responsestatus", Of(Field::kStatus, 1)},

    {"bytes", Of(Field::kBytes)},
    {"bodybytessent", Of(Field::kBytes)},
    {"scbytes", Of(Field::kBytes)},
    {"edgeresponsebytes", Of(Field::kBytes)},
    {"sentbytes", Of(Field::kBytes)},
    {"bytessent", Of(Field::kBytes, 1)},
    {"downstreamcontentsize", Of(Field::kBytes, 1)},
    {"size", Of(Field::kBytes, 2)},

    {"referer", Of(Field::kReferer)},
    {"referrer", Of(Field::kReferer)},
    {"httpreferer", Of(Field::kReferer)},
    {"csreferer", Of(Field::kReferer)},
    {"clientrequestreferer", Of(Field::kReferer)},
    {"requestreferer", Of(Field::kReferer)},
    {"requestheadersreferer", Of(Field::kReferer)},

    {"useragent", Of(Field::kUserAgent)},
    {"httpuseragent", Of(Field::kUserAgent)},
    {"csuseragent", Of(Field::kUserAgent)},
    {"clientrequestuseragent", Of(Field::kUserAgent)},
    {"requestuseragent", Of(Field::kUserAgent)},
    {"requestheadersuseragent", Of(Field::kUserAgent)},
    {"httprequestuseragent", Of(Field::kUserAgent)},
    {"agent", Of(Field::kUserAgent, 1)},

    {"user", Of(Field::kUser)},
    {"username", Of(Field::kUser)},
    {"remoteuser", Of(Field::kUser)},
    {"csusername", Of(Field::kUser)},
    {"clientusername", Of(Field::kUser)},
    {"userid", Of(Field::kUser, 1)},

    {"xforwardedfor", Of(Field::kForwardedFor)},
    {"httpxforwardedfor", Of(Field::kForwardedFor)},
    {"forwardedfor", Of(Field::kForwardedFor)},
    {"requestheadersxforwardedfor", Of(Field::kForwardedFor)},
    {"requestxforwardedfor", Of(Field::kForwardedFor)},

    {"timetaken", Of(Field::kDurationMs)},
    {"durationms", Of(Field::kDurationMs)},
};

constexpr std::size_t kLongestName = 48;

// An absent value in most logs.
bool IsAbsent(std::string_view value) {
  return value.empty() || value == "-";
}

}  // namespace

ColumnRole RoleOf(std::string_view name) {
  std::array<char, kLongestName> letters{};
  std::size_t size = 0;
  for (const char c : name) {
    const char lower = wire::ToLower(c);
    if (wire::IsDigit(lower) || (lower >= 'a' && lower <= 'z')) {
      if (size == letters.size()) {
        return {};
      }
      letters[size++] = lower;
    }
  }
  if (name == "client:port" || name == "client_port:ip") {  // And not `client_port`.
    return {.kind = ColumnKind::kAddressPort, .field = Field::kIp, .rank = 1};
  }
  const std::string_view normal(letters.data(), size);
  const auto* const found = std::ranges::find(kKnown, normal, &Known::name);
  return found == std::end(kKnown) ? ColumnRole{} : found->role;
}

RowReader::Column RowReader::ColumnNamed(std::string_view name) const {
  Column column{.role = RoleOf(name)};
  if (!options_.time.name.empty()) {
    if (name == options_.time.name) {
      column.role = Time();
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
