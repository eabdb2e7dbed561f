#include <charconv>

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>

#include "net/listener.h"

namespace sluice::net {
namespace {

using boost::asio::ip::tcp;

Error BadAddress(std::string_view text) {
  return {
      .message = fmt::format(
          "`{}` is not an address to listen on: write 127.0.0.1:8080, [::1]:8080 or *:8080", text)};
}

}  // namespace

Result<tcp::endpoint> ParseAddress(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    return tl::unexpected(BadAddress(text));
  }
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  unsigned short port = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (digits.empty() || problem != std::errc() || end != digits.data() + digits.size()) {
    return tl::unexpected(BadAddress(text));
  }
  if (host.empty() || host == "*") {
    return tcp::endpoint(tcp::v6(), port);
  }
  if (host == "localhost") {
    host = "127.0.0.1";
  }
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) {
    host = host.substr(1, host.size() - 2);
  }
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(std::string(host), error);
  if (error || address.is_v6() != bracketed) {
    return tl::unexpected(BadAddress(text));
  }
  return tcp::endpoint(address, port);
}

std::string AddressText(const tcp::endpoint& endpoint) {
  const std::string host = endpoint.address().to_string();
  return endpoint.address().is_v6() ? fmt::format("[{}]:{}", host, endpoint.port())
                                    : fmt::format("{}:{}", host, endpoint.port());
}

}  // namespace sluice::net
