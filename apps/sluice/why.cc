#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include "sluice/decision.h"

#include "ask_daemon.h"
#include "base/display_text.h"
#include "base/fault.h"
#include "command.h"
#include "command_line.h"
#include "json_answer.h"
#include "recorded_decision.h"
#include "stated_limits.h"
#include "why_text.h"
#include "wire/url_encoding.h"

// sluice why.
namespace sluice::app {

namespace {

constexpr std::size_t kLongestPaste = std::size_t{4} << 20U;

struct WhyOptions {
  AdminOptions admin;
  std::vector<std::string> words;
  std::int64_t cost = 1;
  std::string headers;     // A file, "-" for standard input; "": none.
  std::string request_id;  // "": none.
  std::string domain;      // Of Envoy; "": the words are attributes.
};

std::int64_t UnixMilliseconds() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void Print(const std::string& text) {
  std::printf("%s", base::DisplayText(text, base::LineFeeds::kKept).c_str());
}

// The bytes of a file, or of standard input for "-".
Result<std::string> ReadText(const std::string& name) {
  std::ostringstream text;
  if (name == "-") {
    text << std::cin.rdbuf();
  } else {
    std::ifstream file(name, std::ios::binary);
    if (!file) {
      return FileFault(name, "cannot be read");
    }
    text << file.rdbuf();
  }
  std::string read = std::move(text).str();
  return read.size() > kLongestPaste ? Result<std::string>(Fault("the response is above 4 MiB"))
                                     : read;
}

// An answer of the daemon: its bytes, and what they are.
struct Fetched {
  std::string body;
  boost::json::value parsed;

  [[nodiscard]] JsonAnswer answer() const { return JsonAnswer(parsed); }
};

// Asks for `target`. nullopt, with a message, without an answer that has `member`.
std::optional<Fetched> Fetch(const WhyOptions& options, const std::string& target,
                             const char* member) {
  Fetched fetched;
  if (AskAdmin(options.admin.server, {.target = target}, fetched.body) != kExitOk) {
    return std::nullopt;
  }
  boost::json::error_code error;
  fetched.parsed = boost::json::parse(fetched.body, error);
  if (error || !fetched.answer().Has(member)) {
    std::fprintf(stderr, "sluice: unexpected answer from the server: %s\n",
                 base::DisplayText(fetched.body, base::LineFeeds::kKept).c_str());
    return std::nullopt;
  }
  return fetched;
}

// What the daemon says of such a request now.
std::optional<Fetched> AskNow(const WhyOptions& options) {
  std::vector<Attribute> attributes;
  if (!ReadAttributes(options.words, attributes)) {
    return std::nullopt;
  }
  if (options.cost < 0 || options.cost > kMaxUnits) {
    std::fprintf(stderr, "sluice: --cost must be 0 to %lld\n", static_cast<long long>(kMaxUnits));
    return std::nullopt;
  }
  return Fetch(options, RequestTarget("/v1/ratelimit/why", options.cost, attributes), "verdict");
}

// The daemon's record of the request with that id; nullopt, with a message, if there is none.
std::optional<boost::json::value> FindRecord(const WhyOptions& options, const std::string& id) {
  std::string target = "/v1/ratelimit/decisions?request_id=";
  wire::AppendPercentEncoded(target, id);
  const auto fetched = Fetch(options, target, "decisions");
  if (!fetched) {
    return std::nullopt;
  }
  const auto& records = fetched->answer().List("decisions");
  if (records.empty()) {
    std::fprintf(
        stderr,
        "sluice: this node keeps no decision with the request id %s: another node made it, "
        "it is too old, or it was left out of the sample under load\n",
        base::DisplayText(id).c_str());
    return std::nullopt;
  }
  return records[0];
}

// The response that --headers names; nullopt, with a message, if it says nothing of a limit.
std::optional<StatedDecision> ReadResponse(const std::string& file) {
  const auto text = ReadText(file);
  const auto response =
      text ? ReadPastedResponse(*text) : Result<PastedResponse>(tl::unexpected(text.error()));
  if (!response) {
    std::fprintf(stderr, "sluice: %s\n", response.error().Text().c_str());
    return std::nullopt;
  }
  StatedDecision stated = ReadStatedDecision(*response);
  if (!stated.is_of_a_limit() && stated.request_id.empty()) {
    std::fprintf(stderr,
                 "sluice: the response has no header field and no body of a rate limit: paste all "
                 "of its header lines (curl -i), or ask with the request's attributes\n");
    return std::nullopt;
  }
  return stated;
}

int ExitCodeOf(bool allowed) {
  return allowed ? kExitOk : kExitNo;
}

// What the response says, what the daemon keeps of its decision, and how it would decide now, as
// far as there is any of it. The exit code is that of the last of them.
int ExplainPast(const WhyOptions& options) {
  int exit_code = kExitError;
  std::string text;
  std::string json = "{\"response\": ";
  std::string id = options.request_id;
  if (!options.headers.empty()) {
    const auto stated = ReadResponse(options.headers);
    if (!stated) {
      return kExitError;
    }
    exit_code = ExitCodeOf(!stated->denied);
    text = TellStatedDecision(*stated, UnixMilliseconds());
    AppendStatedDecision(*stated, json);
    id = id.empty() ? stated->request_id : id;
  } else {
    json += "null";
  }
  json += ", \"decision\": ";
  const auto record = id.empty() ? std::nullopt : FindRecord(options, id);
  if (record) {
    exit_code = ExitCodeOf(JsonAnswer(*record).Truth("allowed"));
    text +=
        (text.empty() ? "" : "\n") + TellRecordedDecision(JsonAnswer(*record), UnixMilliseconds());
  }
  json += record ? boost::json::serialize(*record) : "null";
  const auto now = options.words.empty() ? std::nullopt : AskNow(options);
  if (now) {
    exit_code = ExitCodeOf(now->answer().Part("verdict").Truth("allowed"));
    text += (text.empty() ? "" : "\nNow such a request is ") + TellWhy(now->answer());
  } else if (options.words.empty() && exit_code != kExitError) {
    text += "\nTo see the state of its keys now, add the request's attributes: key=value ...\n";
  }
  json += ", \"now\": " + (now ? now->body : "null") + "}\n";
  if (exit_code != kExitError) {
    Print(options.admin.json ? json : text);
  }
  return now || options.words.empty() ? exit_code : kExitError;
}

int Why(const WhyOptions& options) {
  if (!options.domain.empty()) {
    return AskEnvoyUsage(options.admin, options.domain, options.words);
  }
  if (!options.headers.empty() || !options.request_id.empty()) {
    return ExplainPast(options);
  }
  const auto now = AskNow(options);
  if (!now) {
    return kExitError;
  }
  Print(options.admin.json ? now->body + '\n' : TellWhy(now->answer()));
  return ExitCodeOf(now->answer().Part("verdict").Truth("allowed"));
}

}  // namespace

void AddWhy(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<WhyOptions>();
  Command& command = AddCommand(
      app, "why", "Say why a request is allowed or denied, from attributes or from a response",
      {.notes =
           "Asks a daemon for the verdict that such a request would get now, without charging it, "
           "and for all that leads to it: the rules that apply, and why the others do not; the "
           "plan or override in force; each key's use and when the cost would pass; bans, modes, "
           "the kill switch, borrowed units, what decides without the store, and how far the "
           "store's clock is from this node's.\n\n"
           "With --headers, reads a response that somebody pasted (curl -i, or header lines alone) "
           "and says which rule denied it. If the response has a request id, or with --request-id, "
           "the daemon is asked for its record of the decision. With "
           "attributes it also shows their keys' state now.\n\n"
           "Other questions: sluice status shows what is left, also on a check listener; sluice "
           "explain shows which rules apply without asking the store, also of files (--rules). Of "
           "Envoy's descriptors, --domain shows each limit's state. A key of CL.THROTTLE is shown "
           "by the same command with the quantity 0.",
       .exit_codes = "0 it would be allowed, 1 it would be denied, 2 error",
       .examples = {{"Why is this customer refused?", "sluice why user_id=u_42 plan=pro"},
                    {"Which rule refused this request?",
                     "curl -si \"$SLUICE_SERVER/v1/ratelimit/status?user_id=u_42\" | sluice why "
                     "--headers -"}}});
  command.add_option("attributes", options->words, "The request's attributes: key=value ...");
  AddAdminOptions(command, options->admin);
  command.add_option("--cost", options->cost, "The call's cost")->capture_default_str();
  auto* const headers = command
                            .add_option("--headers", options->headers,
                                        "A response to explain: a file, or - for standard input")
                            ->type_name("FILE");
  auto* const request_id = command.add_option("--request-id", options->request_id,
                                              "The X-Request-Id of the answer to explain");
  command
      .add_option("--domain", options->domain,
                  "A domain of Envoy: the attributes are the entries of one of its descriptors")
      ->excludes(headers)
      ->excludes(request_id);
  command.callback([options, &exit_code] { exit_code = Why(*options); });
}

}  // namespace sluice::app
