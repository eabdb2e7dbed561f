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

}  // namespace sluice::logs
