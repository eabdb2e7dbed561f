#include "otlp_config.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

#include "config_fields.h"
#include "config_map.h"
#include "rules/value_reader.h"
#include "sources/files.h"
#include "version.h"

namespace sluice::app {

namespace {

using rules::Reporter;
using Pairs = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view kDefaultPort = "4318";
constexpr std::string_view kExample = "otlp: {endpoint: \"http://127.0.0.1:4318\"}";
constexpr Duration kShortestInterval = std::chrono::seconds(1);
constexpr Duration kShortestTimeout = std::chrono::milliseconds(100);
constexpr Duration kLongestTimeout = std::chrono::minutes(1);

bool IsHeaderText(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f; });
}

bool IsHeaderName(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
           c == '_' || c == '.';
  });
}

// "https://collector.example:4318/prefix"
void ReadEndpoint(const yaml::Node& node, Reporter& report, OtlpConfig& otlp, bool& is_plain) {
  const auto text = rules::ReadText(node, "endpoint", report);
  if (!text) {
    return;
  }
  std::string_view rest = *text;
  const bool is_secure = rest.starts_with("https://");
  is_plain = rest.starts_with("http://");
  rest.remove_prefix(is_secure ? 8 : is_plain ? 7 : 0);
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  otlp.path = rest.substr(slash);
  while (otlp.path.ends_with('/')) {
    otlp.path.pop_back();
  }
  const auto target = net::ParseDialTarget(rest.substr(0, slash), kDefaultPort);
  const bool names_signal = otlp.path.ends_with("/v1/metrics") || otlp.path.ends_with("/v1/traces");
  if ((!is_secure && !is_plain) || !target || !target->path.empty() || !IsHeaderText(otlp.path) ||
      otlp.path.find_first_of(" ?#") != std::string::npos) {
    report.Fail(
        node, "endpoint: " + *text + " is not the URL of a collector: write http://127.0.0.1:4318");
  } else if (names_signal) {
    report.Fail(
        node, "endpoint: Sluice itself adds /v1/metrics and /v1/traces: leave them out of the URL");
  } else {
    otlp.server = *target;
    if (is_secure && !otlp.tls) {
      otlp.tls.emplace();
    }
  }
}

// A map of texts.
void ReadPairs(const yaml::Node& node, std::string_view field, Reporter& report,
               const std::function<void(const yaml::Node& value, const std::string& name,
                                        const std::string& text)>& take) {
  if (!node.is_map()) {
    report.Fail(node, std::string(field) + " must be a map of names to texts");
    return;
  }
  for (std::size_t i = 0; i < node.pair_count(); ++i) {
    if (const auto text = rules::ReadText(node.value(i), field, report)) {
      take(node.value(i), node.key(i).text, *text);
    }
  }
}

void ReadHeaders(const yaml::Node& node, Reporter& report, Pairs& headers) {
  ReadPairs(node, "headers", report,
            [&](const yaml::Node& value, const std::string& name, const std::string& text) {
              if (!IsHeaderName(name) || !IsHeaderText(text)) {
                report.Fail(value, "headers: `" + name +
                                       "` is not the name of a header, or its value has bytes that "
                                       "a header must not have");
              } else {
                headers.emplace_back(name, text);
              }
            });
}

void ReadDurationWithin(const yaml::Node& node, std::string_view field, Duration least,
                        Duration most, Reporter& report, Duration& into) {
  const auto value = rules::ReadDuration(node, field, report);
  if (value && (*value < least || *value > most)) {
    report.Fail(node, std::string(field) + " must be " + rules::DurationText(least) + " to " +
                          rules::DurationText(most));
  }
  into = value.value_or(into);
}

Result<Pairs> FieldsOf(const Pairs& headers, const std::string& token_file) {
  Pairs fields = headers;
  if (!token_file.empty()) {
    auto token = sources::ReadFile(token_file);
    if (!token) {
      return tl::unexpected(token.error());
    }
    while (token->ends_with('\n') || token->ends_with('\r')) {
      token->pop_back();
    }
    if (token->empty() || !IsHeaderText(*token)) {
      return tl::unexpected(
          Error{.message = token_file + " has no token: write it on the only line of the file"});
    }
    fields.emplace_back("Authorization", "Bearer " + *token);
  }
  return fields;
}

}  // namespace

OtlpConfig ReadOtlp(const yaml::Node& node, const std::filesystem::path& folder, Reporter& report) {
  OtlpConfig otlp;
  bool has_endpoint = false;
  bool is_plain = false;
  const auto read_endpoint = [&](const yaml::Node& value) {
    has_endpoint = true;
    ReadEndpoint(value, report, otlp, is_plain);
  };
  const auto read_tls = [&](const yaml::Node& value) {
    otlp.tls = ReadClientTls(value, folder, report);
  };
  const auto read_interval = [&](const yaml::Node& value) {
    ReadDurationWithin(value, "interval", kShortestInterval, std::chrono::hours(24), report,
                       otlp.interval);
  };
  const auto read_timeout = [&](const yaml::Node& value) {
    ReadDurationWithin(value, "timeout", kShortestTimeout, kLongestTimeout, report, otlp.timeout);
  };
  const auto read_compression = [&](const yaml::Node& value) {
    otlp.gzip = ReadWord(value, kOtlpMap["compression"], report).value_or(0) == 0;
  };
  const auto read_traces = [&](const yaml::Node& value) {
    otlp.traces = rules::ReadBool(value, "traces", report).value_or(true);
  };
  const auto read_headers = [&](const yaml::Node& value) {
    ReadHeaders(value, report, otlp.headers);
  };
  const auto read_token_file = [&](const yaml::Node& value) {
    if (const auto text = rules::ReadText(value, "token_file", report)) {
      otlp.token_file = (folder / *text).string();
      if (const auto fields = FieldsOf({}, otlp.token_file); !fields) {
        report.Fail(value, fields.error().Text());
      }
    }
  };
  const auto read_service_name = [&](const yaml::Node& value) {
    otlp.service_name = rules::ReadText(value, "service_name", report).value_or("");
    if (otlp.service_name.empty()) {
      report.Fail(value, "service_name is empty: name the service, or leave it out for sluice");
    }
  };
  const auto read_attributes = [&](const yaml::Node& value) {
    ReadPairs(value, "attributes", report,
              [&](const yaml::Node&, const std::string& name, const std::string& text) {
                otlp.attributes.emplace_back(name, text);
              });
  };
  const auto fields = std::to_array<FieldReader>({{"endpoint", read_endpoint},
                                                  {"interval", read_interval},
                                                  {"timeout", read_timeout},
                                                  {"compression", read_compression},
                                                  {"headers", read_headers},
                                                  {"token_file", read_token_file},
                                                  {"tls", read_tls},
                                                  {"traces", read_traces},
                                                  {"service_name", read_service_name},
                                                  {"attributes", read_attributes}});
  ReadFields(node, kOtlpMap, fields, report);
  if (!has_endpoint) {
    report.Fail(node, "otlp needs the URL of a collector: write " + std::string(kExample));
  } else if (is_plain && otlp.tls) {
    report.Fail(node, "otlp has tls, but its endpoint is http: write https://");
  }
  return otlp;
}

otlp::ExporterSettings SettingsOf(const OtlpConfig& config, const std::string& instance) {
  otlp::ExporterSettings settings;
  settings.interval = config.interval;
  settings.collector = {
      .server = config.server, .path = config.path, .timeout = config.timeout, .gzip = config.gzip};
  if (config.tls) {
    settings.collector.tls = [tls = *config.tls] { return LoadClientTls(tls, {"http/1.1"}); };
  }
  settings.collector.fields = [headers = config.headers, token_file = config.token_file] {
    return FieldsOf(headers, token_file);
  };
  otlp::Resource& resource = settings.resource;
  resource = {.service_name = config.service_name,
              .service_version = kVersion,
              .service_instance_id = instance};
  for (const auto& [name, text] : config.attributes) {
    if (name == "service.instance.id") {
      resource.service_instance_id = text;
    } else {
      resource.attributes.emplace_back(name, text);
    }
  }
  return settings;
}

}  // namespace sluice::app
