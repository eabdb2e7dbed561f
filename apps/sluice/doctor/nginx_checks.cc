#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "doctor/checks.h"
#include "wire/ascii.h"

// How NGINX asks about its requests: whether every location does, and whether the question is
// whole.
namespace sluice::app::doctor {

namespace {

// What holds within a block unless it says otherwise.
struct Inherited {
  std::string auth_request;  // The URI that is asked; "": none.
  bool sets_variables = false;
};

class NginxReview {
 public:
  NginxReview(const NginxFacts& facts, FindingList& findings)
      : facts_(facts), findings_(findings) {}

  void Review() {
    NginxDirective all;
    all.inside = facts_.directives;
    Visit(all, {}, nullptr);
  }

 private:
  void Add(std::string_view check, Severity severity, const NginxDirective& at, std::string seen,
           std::string follows, std::string remedy) {
    findings_.push_back({.check = check,
                         .severity = severity,
                         .seen = std::move(seen),
                         .follows = std::move(follows),
                         .remedy = std::move(remedy),
                         .place = {facts_.file, at.line, 1}});
  }

  void Visit(const NginxDirective& block, Inherited inherited, const NginxDirective* server) {
    if (const auto* const asks = block.Find("auth_request")) {
      inherited.auth_request = asks->first() == "off" ? "" : std::string(asks->first());
      CheckAuthLocation(*asks, server);
    }
    inherited.sets_variables =
        inherited.sets_variables || block.Find("auth_request_set") != nullptr;
    const bool is_location = block.Is("location");
    const bool is_internal =
        block.Find("internal") != nullptr || (is_location && block.first().starts_with('@'));
    const bool is_asked_for = is_location && !is_internal && !inherited.auth_request.empty();
    if (is_asked_for) {
      CheckBypass(block, block);
      if (!inherited.sets_variables) {
        Add("nginx-no-limit-headers", Severity::kNote, block,
            fmt::format("location {} has auth_request and no auth_request_set", NameOf(block)),
            "denied clients get no Retry-After and no limit headers",
            "copy the auth_request_set and add_header lines of examples/proxies/nginx.conf");
      }
    } else if (block.Is("server") && AsksAnywhere(block, inherited)) {
      CheckBypass(block, block);
    }
    for (const NginxDirective& inside : block.inside) {
      if (inside.is_block && !inside.Is("if")) {
        Visit(inside, inherited, inside.Is("server") ? &inside : server);
      }
    }
  }

  static std::string NameOf(const NginxDirective& location) {
    std::string name;
    for (const std::string& argument : location.arguments) {
      name += (name.empty() ? "" : " ") + argument;
    }
    return name;
  }

  static bool AsksAnywhere(const NginxDirective& block, const Inherited& inherited) {
    return !inherited.auth_request.empty() ||
           std::ranges::any_of(block.inside, [](const NginxDirective& inside) {
             return inside.Is("location") && inside.Find("auth_request") != nullptr;
           });
  }

  // NGINX runs these in an earlier phase than auth_request.
  static bool AnswersAtOnce(const NginxDirective& directive) {
    if (directive.Is("return")) {
      return true;
    }
    if (!directive.Is("rewrite") || directive.arguments.size() < 2) {
      return false;
    }
    const std::string& to = directive.arguments[1];
    const std::string& flag = directive.arguments.back();
    return flag == "redirect" || flag == "permanent" || to.starts_with("http://") ||
           to.starts_with("https://") || to.starts_with("$scheme");
  }

  // Looks at `block` and the conditions in it.
  void CheckBypass(const NginxDirective& block, const NginxDirective& place) {
    for (const NginxDirective& directive : block.inside) {
      if (AnswersAtOnce(directive)) {
        const std::string where =
            place.Is("server") ? "the server block" : "location " + NameOf(place);
        Add("nginx-return-bypasses", Severity::kWarning, directive,
            fmt::format("{} has `{}` beside auth_request", where, directive.name),
            "NGINX answers before it asks Sluice: these requests are not limited",
            "answer with proxy_pass or try_files, or move the return into a named location "
            "(docs/proxies.md)");
      } else if (directive.Is("if")) {
        CheckBypass(directive, place);
      }
    }
  }

  // The location that `asks` names, in its server.
  void CheckAuthLocation(const NginxDirective& asks, const NginxDirective* server) {
    const std::string uri(asks.first());
    if (uri == "off" || server == nullptr ||
        std::ranges::find(reviewed_, &asks) != reviewed_.end()) {
      return;
    }
    reviewed_.push_back(&asks);
    const auto location =
        std::ranges::find_if(server->inside, [&](const NginxDirective& directive) {
          return directive.Is("location") && !directive.arguments.empty() &&
                 directive.arguments.back() == uri;
        });
    if (location == server->inside.end()) {
      Add("nginx-question", Severity::kWarning, asks,
          fmt::format("auth_request names {}, and this server has no location of that name", uri),
          "a location that is not there answers 404, which clients see as 500",
          fmt::format("add location = {} from examples/proxies/nginx.conf", uri));
      return;
    }
    if (std::ranges::find(seen_, &*location) == seen_.end()) {
      seen_.push_back(&*location);
      CheckQuestion(*location);
    }
  }

  static bool SetsHeader(const NginxDirective& location, std::string_view name) {
    return std::ranges::any_of(location.inside, [&](const NginxDirective& directive) {
      return directive.Is("proxy_set_header") && wire::EqualsIgnoreCase(directive.first(), name);
    });
  }

  void CheckQuestion(const NginxDirective& location) {
    const std::string name = NameOf(location);
    if (location.Find("internal") == nullptr) {
      Add("nginx-question", Severity::kWarning, location,
          fmt::format("location {} is not internal", name),
          "clients can ask Sluice themselves, and spend or probe limits with headers of their own",
          "write internal; in it");
    }
    const auto* const body = location.Find("proxy_pass_request_body");
    if (body == nullptr || body->first() != "off" || !SetsHeader(location, "Content-Length")) {
      Add("nginx-question", Severity::kWarning, location,
          fmt::format("location {} passes the client's body or its Content-Length on", name),
          "Sluice waits for a body that does not come, or reads it for nothing",
          "write proxy_pass_request_body off; and proxy_set_header Content-Length \"\";");
    }
    if (!SetsHeader(location, "X-Original-URI") && !SetsHeader(location, "X-Forwarded-Uri")) {
      Add("nginx-question", Severity::kWarning, location,
          fmt::format("location {} does not say which path is asked for", name),
          "the attribute endpoint is that of the question, or what the client wrote",
          "write proxy_set_header X-Original-URI $request_uri;");
    }
    if (!SetsHeader(location, "X-Forwarded-For") && !SetsHeader(location, "X-Real-IP") &&
        !SetsHeader(location, "Forwarded")) {
      Add("nginx-question", Severity::kWarning, location,
          fmt::format("location {} does not say whose request it is", name),
          "ip is what the client wrote into X-Forwarded-For, or NGINX's own address",
          "write proxy_set_header X-Forwarded-For $remote_addr;");
    }
    const auto* const pass = location.Find("proxy_pass");
    if (pass != nullptr && pass->first().find("/v1/check/http") != std::string_view::npos &&
        pass->first().find("deny_status=403") == std::string_view::npos &&
        pass->first().find("deny_status=401") == std::string_view::npos) {
      Add("nginx-question", Severity::kProblem, *pass,
          fmt::format("location {} asks without deny_status=403", name),
          "auth_request takes the answer 429 for an error: denied clients get 500",
          "write proxy_pass http://.../v1/check/http?deny_status=403;");
    }
  }

  const NginxFacts& facts_;
  FindingList& findings_;
  std::vector<const NginxDirective*> reviewed_;
  std::vector<const NginxDirective*> seen_;
};

}  // namespace

void CheckNginx(const Facts& facts, FindingList& findings) {
  if (facts.nginx) {
    NginxReview(*facts.nginx, findings).Review();
  }
}

}  // namespace sluice::app::doctor
