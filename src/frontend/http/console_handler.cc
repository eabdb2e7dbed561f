#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "frontend/http/console.h"
#include "frontend/http/handlers.h"
#include "wire/http_request.h"

namespace sluice::frontend::http {

namespace {

constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
    {".css", "text/css; charset=utf-8"},
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".svg", "image/svg+xml"}};

std::string_view TypeOf(std::string_view name) {
  const auto* const found =
      std::ranges::find_if(kTypes, [name](const auto& type) { return name.ends_with(type.first); });
  return found == std::end(kTypes) ? "text/plain; charset=utf-8" : found->second;
}

// The page runs only its own files, talks only to this listener, is not framed by other pages, and
// cannot turn a text into markup.
constexpr std::pair<std::string_view, std::string_view> kFields[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
     "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
     "require-trusted-types-for 'script'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    // The browser asks each time whether the file has changed.
    {"Cache-Control", "no-cache"}};

}  // namespace

void HandleConsole(const Routed& routed) {
  const std::string_view name = routed.tail == "/" ? "index.html" : routed.tail.substr(1);
  const auto* const file = std::ranges::find(kConsoleFiles, name, &ConsoleFile::name);
  if (file == kConsoleFiles.end()) {
    routed.exchange.AnswerProblem({.status = 404,
                                   .title = {},
                                   .detail = "the console has no such file: open /console/",
                                   .code = {}});
    return;
  }
  const std::string tag = EntityTag(file->text);
  if (wire::NamesEntity(routed.request, "If-None-Match", tag, wire::TagComparison::kWeak)) {
    routed.exchange.AnswerText(304, TypeOf(name), "");
  } else {
    routed.exchange.AnswerText(200, TypeOf(name), file->text);
  }
  for (const auto& [field, value] : kFields) {
    routed.exchange.response.Add(field, value);
  }
  routed.exchange.response.Add("ETag", tag);
}

void HandleConsoleFolder(const Routed& routed) {
  routed.exchange.AnswerText(308, {}, "");
  routed.exchange.response.Add("Location", "console/");
}

}  // namespace sluice::frontend::http
