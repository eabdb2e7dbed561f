#pragma once

#include <string_view>

#include "logs/log_record.h"

// What several formats write alike: where a request went and who sent it.
namespace sluice::logs {

// "GET /a?b HTTP/1.1": method, path, endpoint and protocol, and the host where the target names
// one. What is no such line (a TLS hello on a plain port, "-") was a request all the same: it
// just has none of these.
void SetRequestLine(LogRecord& record, std::string_view line);

// "/a?b", "http://host/a?b": path and endpoint, and the host where it is there and not known
// otherwise. Requires `target` not empty.
void SetTarget(LogRecord& record, std::string_view target);

// "192.0.2.1", "192.0.2.1:4711", "[2001:db8::1]:4711", "h1.example.net": the client, and the ip
// where it looks like one (whoever counts by it parses it for good).
void SetClient(LogRecord& record, std::string_view client);

// "example.com:8080" without its port; a lone IPv6 address stays whole.
[[nodiscard]] std::string_view WithoutPort(std::string_view host);

// "192.0.2.1:4711" or "2001:db8::1:4711" without the port, which is there in any case.
[[nodiscard]] std::string_view WithoutLastPort(std::string_view address);

// "192.0.2.1, 10.0.0.1": the first.
[[nodiscard]] std::string_view FirstOfList(std::string_view list);

}  // namespace sluice::logs
