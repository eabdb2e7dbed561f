#include "frontend/http/proxy_handler.h"

#include <algorithm>
#include <string>

#include "frontend/http/status_handler.h"
#include "wire/ascii.h"
#include "wire/path_normalizer.h"

namespace sluice::frontend::http {

namespace {

constexpr std::string_view kClientsQuery =
    "the query of /v1/check/http has what the client wrote into its own, so a client could set "
    "itself any cost and attribute: have the proxy request a fixed path (Caddy: rewrite "
    "/v1/check/http?)";
constexpr std::string_view kBothFamilies =
    "X-Original-... and X-Forwarded-... both name the client's request, and only one can be the "
    "proxy's: have the proxy remove the other, or set the listener's proxy: {request_fields: ...}";

std::string_view Or(std::string_view text, std::string_view otherwise) {
  return text.empty() ? otherwise : text;
}

// Reads header fields of which one line may be there. A second line may be the client's, where the
// proxy adds its own and does not overwrite.
class OneOfEach {
 public:
  explicit OneOfEach(const wire::HttpRequest& request) : request_(request) {}

  std::string_view Get(std::string_view name) {
    const wire::HttpField* first = nullptr;
    for (const wire::HttpField& field : request_.fields) {
      if (!wire::EqualsIgnoreCase(field.name, name)) {
        continue;
      }
      if (first != nullptr) {
        twice_ = Or(twice_, name);
        break;
      }
      first = &field;
    }
    return first == nullptr ? std::string_view() : first->value;
  }
  // The first field that was there twice; "" if none.
  [[nodiscard]] std::string_view twice() const { return twice_; }

 private:
  const wire::HttpRequest& request_;
  std::string_view twice_;
};

// The request that a proxy asks about.
struct AskedRequest {
  std::string_view method;
  std::string_view uri;
  std::string_view host;
  bool both_families = false;  // The fields name two.
};

AskedRequest ReadAsked(const wire::HttpRequest& request, std::string_view suffix,
                       RequestFields families, OneOfEach& fields) {
  if (!suffix.empty()) {
    return {request.method_text, suffix, fields.Get("Host")};
  }
  AskedRequest asked{{}, {}, Or(fields.Get("X-Forwarded-Host"), fields.Get("Host"))};
  if (families != RequestFields::kXForwarded) {
    asked.method = fields.Get("X-Original-Method");
    asked.uri = fields.Get("X-Original-URI");
  }
  if (families != RequestFields::kXOriginal) {
    const std::string_view method = fields.Get("X-Forwarded-Method");
    const std::string_view uri = fields.Get("X-Forwarded-Uri");
    const bool is_there = !method.empty() || !uri.empty();
    asked.both_families = is_there && (!asked.method.empty() || !asked.uri.empty());
    if (is_there) {
      asked.method = method;
      asked.uri = uri;
    }
  }
  asked.method = Or(asked.method, request.method_text);
  return asked;
}

// Takes the first member off a query, as it was written.
std::string_view NextMember(std::string_view& query) {
  const std::size_t end = std::min(query.find('&'), query.size());
  const std::string_view member = query.substr(0, end);
  query.remove_prefix(std::min(end + 1, query.size()));
  return member;
}

// Whether a member may say what the check costs. No proxy writes an escape into a name; a client
// may.
bool MayBeCost(std::string_view member) {
  const std::string_view name = member.substr(0, member.find('='));
  return name == "cost" || name.find('%') != std::string_view::npos;
}

// Whether the client wrote the query that came to us, or the cost in it: it is the query of the
// request asked about, whole or beside the proxy's own members (`?zone=api&{query}`).
bool IsClientsQuery(std::string_view query, std::string_view uri) {
  const std::size_t mark = uri.find('?');
  if (query.empty() || mark == std::string_view::npos) {
    return false;
  }
  const std::string_view asked = uri.substr(mark + 1, uri.find('#') - mark - 1);
  if (asked == query) {
    return true;
  }
  while (!query.empty()) {
    const std::string_view member = NextMember(query);
    if (MayBeCost(member)) {
      for (std::string_view rest = asked; !rest.empty();) {
        if (NextMember(rest) == member) {
          return true;
        }
      }
    }
  }
  return false;
}

// Without its port; a lone IPv6 literal keeps its brackets. Rules see it without case as well.
std::string_view WithoutPort(std::string_view host) {
  if (host.starts_with('[')) {
    return host.substr(0, host.find(']') + 1);
  }
  return host.substr(0, host.find(':'));
}

// What Access-Control-Allow-Origin is to say to this origin; "" for nothing.
std::string_view AllowedOrigin(std::string_view origin, const ProxySettings& settings) {
  for (const std::string& one : settings.cors_origins) {
    if (!origin.empty() && (one == "*" || one == origin)) {
      return one;
    }
  }
  return {};
}

void Note(std::string_view peer, ForwardingNotes* notes) {
  if (notes != nullptr && notes->untrusted.fetch_add(1, std::memory_order_relaxed) == 0 &&
      notes->on_first) {
    notes->on_first(peer);
  }
}

// Takes the members of the query that are for us, and no attributes. "", or what is wrong.
std::string_view TakeControls(Exchange& exchange, ProxyAnswer& answer) {
  if (const auto status = exchange.query.Remove("deny_status")) {
    if (*status != "429" && *status != "403") {
      return "deny_status must be 429 or 403";
    }
    answer.deny_status = *status == "403" ? 403 : 429;
  }
  if (const auto cost = exchange.query.Remove("cost")) {
    const auto units = ReadCost(*cost);
    if (!units) {
      return "cost must be a whole number from 0 to 999999999999999";
    }
    exchange.cost = *units;
  }
  return {};
}

// Adds what `headers` name. "", or what is wrong.
std::string_view AddHeaders(const std::vector<std::pair<std::string, std::string>>& headers,
                            const wire::HttpRequest& request, OneOfEach& fields,
                            wire::FormQuery& query) {
  for (const auto& [attribute, field] : headers) {
    if (request.HasField(field) && !query.AddValue(attribute, fields.Get(field))) {
      return "a header that sets an attribute is not UTF-8, is too long, or sets one that the "
             "query sets as well";
    }
  }
  return {};
}

// Adds all that the question says of the request. "", or what is wrong.
std::string_view AddAttributes(const AskedRequest& asked, const ClientAddress& client,
                               const wire::HttpRequest& request, const ProxySettings& settings,
                               OneOfEach& fields, wire::FormQuery& query) {
  // Many frameworks route `post` like POST, and proxies pass it on as it came. (A method that is
  // longer than the string's own room would allocate: none of those in use is.)
  std::string method(asked.method);
  std::ranges::transform(method, method.begin(), wire::ToUpper);
  if (!query.AddValue("method", method)) {
    return "the method is not UTF-8, is too long, or is set by the query as well";
  }
  if (!asked.uri.empty()) {
    if (const auto added = query.AddPath("endpoint", wire::PathOfTarget(asked.uri), settings.paths);
        !added) {
      return added.error();
    }
  }
  const std::string_view host = WithoutPort(asked.host);
  if (host.find(',') != std::string_view::npos) {
    return "the host is a list, and a client may have written one of its names";
  }
  if (!host.empty() && !query.AddValue("host", host)) {
    return "the host is not UTF-8, is too long, or is set by the query as well";
  }
  if (client.address && !query.AddValue("ip", client.address->Text().view())) {
    return "the query sets the attribute ip, which is the client's address";
  }
  if (const std::string_view wrong = AddHeaders(settings.headers, request, fields, query);
      !wrong.empty()) {
    return wrong;
  }
  return client.peer_is_trusted ? AddHeaders(settings.trusted_headers, request, fields, query)
                                : std::string_view();
}

}  // namespace

void HandleProxyCheck(const wire::HttpRequest& request, std::string_view suffix,
                      const ProxySettings& settings, Exchange& exchange) {
  wire::FormQuery& query = exchange.query;
  query.Clear();
  ProxyAnswer answer;
  answer.origin = AllowedOrigin(request.Field("Origin"), settings);
  answer.grpc = request.Field("Content-Type").starts_with("application/grpc");
  OneOfEach fields(request);
  const AskedRequest asked = ReadAsked(request, suffix, settings.request_fields, fields);
  // Behind a path, the query is the original request's: its client writes that.
  if (suffix.empty() && !request.query.empty()) {
    std::string_view wrong = IsClientsQuery(request.query, asked.uri) ? kClientsQuery : "";
    if (wrong.empty()) {
      const auto read = query.AddQuery(request.query);
      wrong = read ? TakeControls(exchange, answer) : read.error();
    }
    if (!wrong.empty()) {
      exchange.AnswerAsProxyCheck(answer);
      exchange.BlameProxy(wrong);
      return;
    }
  }
  exchange.AnswerAsProxyCheck(answer);
  if (asked.both_families) {
    exchange.BlameProxy(kBothFamilies);
    return;
  }
  if (!answer.origin.empty() && asked.method == "OPTIONS" &&
      request.HasField("Access-Control-Request-Method")) {
    exchange.AnswerText(200, {}, {});  // A preflight: the request that it asks for will be judged.
    exchange.AddField("X-RL-Status", "200");
    return;
  }

  const ClientAddress client =
      FindClientAddress(request, exchange.peer_address(), settings.forwarding);
  if (client.untrusted) {
    Note(exchange.peer_address(), settings.notes);
  }
  const std::string_view wrong = AddAttributes(asked, client, request, settings, fields, query);
  if (!wrong.empty() || !fields.twice().empty()) {
    exchange.RefuseRequest(
        fields.twice().empty()
            ? std::string(wrong)
            : std::string(fields.twice()) +
                  " is given twice, and one may be the client's: have the proxy overwrite it");
    return;
  }
  exchange.attributes = query.attributes();
  exchange.AskProxyCheck();
}

}  // namespace sluice::frontend::http
