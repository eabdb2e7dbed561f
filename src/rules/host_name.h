#pragma once

#include <string>
#include <string_view>

namespace sluice::rules {

// The one text of a host name, however it is written: without a port, ASCII letters in lower case,
// no dot at the end (RFC 9110, 4.2.3; RFC 3986, 3.2.2). An IPv6 literal is its shortest text in
// brackets (RFC 5952), and one that maps an IPv4 address is that address: "[2001:DB8:0::1]:443" and
// "2001:db8::1" are "[2001:db8::1]". Letters beyond ASCII and names in punycode stay as they are:
// "bücher.example" and "xn--bcher-kva.example" are two names, of which a client sends the second.
//
// A view of `host`, where it is written so already, or of `room`. Allocates only where `room` has
// to grow. Idempotent. Pure; any text is taken.
[[nodiscard]] std::string_view CanonicalHost(std::string_view host, std::string& room);

}  // namespace sluice::rules
