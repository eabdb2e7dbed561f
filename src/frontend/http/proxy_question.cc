#include "frontend/http/proxy_question.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "wire/ascii.h"
#include "wire/path_normalizer.h"

namespace sluice::frontend::http {

namespace {

std::string_view Or(std::string_view text, std::string_view otherwise) {
  return text.empty() ? otherwise : text;
}

// Takes the first member from a query, unchanged.
std::string_view NextMember(std::string_view& query) {
  const std::size_t end = std::min(query.find('&'), query.size());
  const std::string_view member = query.substr(0, end);
  query.remove_prefix(std::min(end + 1, query.size()));
  return member;
}

// Whether a member may set the cost of the check. No proxy writes an escape into a name, but a
// client may.
bool MayBeCost(std::string_view member) {
  const std::string_view name = member.substr(0, member.find('='));
  return name == "cost" || name.find('%') != std::string_view::npos;
}

// Removes the port. An IPv6 literal without a port keeps its brackets. Rules ignore the case of
// host names.
std::string_view WithoutPort(std::string_view host) {
  if (host.starts_with('[')) {
    return host.substr(0, host.find(']') + 1);
  }
  return host.substr(0, host.find(':'));
}

// Adds the attributes of `headers`. Returns "", or the fault.
std::string_view AddHeaders(const std::vector<std::pair<std::string, std::string>>& headers,
                            const wire::HttpRequest& request, SingleFields& fields,
                            wire::FormQuery& query) {
  for (const auto& [attribute, field] : headers) {
    if (request.HasField(field) && !query.AddValue(attribute, fields.Get(field))) {
      return "a header that sets an attribute is not UTF-8, is too long, or sets one that the "
             "query sets as well";
    }
  }
  return {};
}

}  // namespace

std::string_view SingleFields::Get(std::string_view name) {
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

AskedRequest ReadAsked(const wire::HttpRequest& request, std::string_view suffix,
                       RequestFields families, SingleFields& fields) {
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

std::string_view AddAttributes(const AskedRequest& asked, const ClientAddress& client,
                               const wire::HttpRequest& request, const ProxySettings& settings,
                               SingleFields& fields, wire::FormQuery& query) {
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

}  // namespace sluice::frontend::http
