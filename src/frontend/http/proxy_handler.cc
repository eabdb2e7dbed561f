#include "frontend/http/proxy_handler.h"

#include <optional>

#include "frontend/http/problem.h"
#include "frontend/http/status_handler.h"

namespace sluice::frontend::http {

namespace {

std::string_view Or(std::string_view text, std::string_view otherwise) {
  return text.empty() ? otherwise : text;
}

// The request that the proxy was asked, as it tells it.
struct ToldRequest {
  std::string_view method;
  std::string_view uri;
  std::string_view host;
};

// None where the fields tell of two.
std::optional<ToldRequest> ReadTold(const wire::Http1Request& request, std::string_view suffix,
                                    RequestFields fields) {
  if (!suffix.empty()) {
    return ToldRequest{request.method_text, suffix, request.Field("Host")};
  }
  ToldRequest told{{}, {}, Or(request.Field("X-Forwarded-Host"), request.Field("Host"))};
  bool found = false;
  if (fields != RequestFields::kXForwarded) {
    told.method = request.Field("X-Original-Method");
    told.uri = request.Field("X-Original-URI");
    found = !told.method.empty() || !told.uri.empty();
  }
  if (fields != RequestFields::kXOriginal) {
    const std::string_view method = request.Field("X-Forwarded-Method");
    const std::string_view uri = request.Field("X-Forwarded-Uri");
    const bool other = !method.empty() || !uri.empty();
    if (found && other) {
      return std::nullopt;
    }
    if (other) {
      told.method = method;
      told.uri = uri;
    }
  }
  told.method = Or(told.method, request.method_text);
  return told;
}

// "/login?next=x" and "https://host/login" are both /login; "" for what is no path.
std::string_view PathOf(std::string_view uri) {
  wire::Http1Request read;
  read.target = uri;
  return wire::SplitTarget(read) ? read.path : std::string_view();
}

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

void BadQuery(std::string_view detail, Exchange& exchange) {
  exchange.AnswerProblem({.status = 400, .title = {}, .detail = detail, .code = "invalid_query"});
}

// Members of the query that are for us, and not attributes. False: answered with what is wrong.
bool TakeControls(Exchange& exchange, ProxyAnswer& answer) {
  if (const auto status = exchange.query.Remove("deny_status")) {
    if (*status != "429" && *status != "403") {
      BadQuery("deny_status must be 429 or 403", exchange);
      return false;
    }
    answer.deny_status = *status == "403" ? 403 : 429;
  }
  if (const auto cost = exchange.query.Remove("cost")) {
    const auto units = ReadCost(*cost);
    if (!units) {
      BadQuery("cost must be a whole number from 0 to 999999999999999", exchange);
      return false;
    }
    exchange.cost = *units;
  }
  return true;
}

}  // namespace

void HandleProxyCheck(const wire::Http1Request& request, std::string_view suffix,
                      const ProxySettings& settings, Exchange& exchange) {
  wire::FormQuery& query = exchange.query;
  query.Clear();
  ProxyAnswer answer;
  // Behind a path, the query is the original request's: its client writes that.
  if (suffix.empty() && !request.query.empty()) {
    if (const auto read = query.AddQuery(request.query); !read) {
      BadQuery(read.error(), exchange);
      return;
    }
    if (!TakeControls(exchange, answer)) {
      return;
    }
  }
  answer.origin = AllowedOrigin(request.Field("Origin"), settings);
  answer.grpc = request.Field("Content-Type").starts_with("application/grpc");
  exchange.AnswerAsProxyCheck(answer);
  const auto told = ReadTold(request, suffix, settings.request_fields);
  if (!told) {
    exchange.RefuseRequest(
        "X-Original-... and X-Forwarded-... both say what was asked, and only one can be the "
        "proxy's: have it remove the other, or set the listener's proxy: {request_fields: ...}");
    return;
  }
  if (!answer.origin.empty() && told->method == "OPTIONS" &&
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
  const std::string_view path = PathOf(told->uri);
  const std::string_view host = WithoutPort(told->host);
  bool sound = query.AddValue("method", told->method);
  if (!path.empty()) {
    sound = sound && query.AddPath("endpoint", path);
  }
  if (!host.empty()) {
    sound = sound && query.AddValue("host", host);
  }
  if (client.address) {
    sound = sound && query.AddValue("ip", client.address->Text().view());
  }
  for (const auto& [attribute, field] : settings.headers) {
    if (request.HasField(field)) {
      sound = sound && query.AddValue(attribute, request.Field(field));
    }
  }
  if (!sound) {
    exchange.RefuseRequest(
        "the request's attributes cannot be read: one is no UTF-8, or too long, or given twice, or "
        "there are too many");
    return;
  }
  exchange.attributes = query.attributes();
  exchange.AskProxyCheck();
}

}  // namespace sluice::frontend::http
