#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wire/http_request.h"

// Keeps web pages away from a listener. A page in a browser on the operator's machine can reach
// 127.0.0.1 and the internal network, and anyone may have written it. Two things distinguish such a
// request from an operator's. The browser says where it comes from (Origin, Sec-Fetch-Site). And
// after DNS rebinding, where the page's own name resolves to our address, the Host field has that
// name.
namespace sluice::frontend::http {

// The names of a listener.
struct HostNames {
  std::string address;  // Its address: "127.0.0.1:6070". "": not known, and any name is accepted.
  std::vector<std::string> names;  // Further ones, without ports: "sluice-admin.internal".
};

// Whether `host`, a Host field or :authority with or without a port, names the listener: by its
// address (any address where it listens on all of them, any loopback address where it listens on
// one), by "localhost" unless it listens on another interface, or by one of its names. A name that
// an attacker's DNS server could resolve is not one of these. The port is not looked at: behind a
// forwarded port it is another one.
[[nodiscard]] bool NamesListener(std::string_view host, const HostNames& listener);

// Whether a browser says that the request comes from a page of another site: by an Origin other
// than the one in the Host field, or by a Sec-Fetch-Site other than same-origin and none. False for
// requests that no browser sent.
[[nodiscard]] bool IsFromForeignPage(const wire::HttpRequest& request);

// Whether the media type of the body is JSON. A page may send three other types without asking the
// server first (a simple request), and a body without a type.
[[nodiscard]] bool HasJsonType(const wire::HttpRequest& request);

}  // namespace sluice::frontend::http
