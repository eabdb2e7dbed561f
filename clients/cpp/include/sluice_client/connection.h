#pragma once

// One HTTP/1.1 exchange over a POSIX socket.

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "decision.h"

namespace sluice_client::detail {

inline constexpr std::size_t kMostHead = 64 * 1024;
inline constexpr std::size_t kMostBody = 16 * 1024 * 1024;

// Where the daemon listens.
struct Server {
  std::string host;
  std::string port;
  std::string authority;
  std::string path;

  static Server Of(std::string_view url) {
    const std::string wrong = "url: expected http://HOST:PORT, got \"" + std::string(url) + "\"";
    Scanner scanner{url};
    if (!scanner.Take("http://")) {
      throw std::invalid_argument(wrong +
                                  (url.substr(0, 8) == "https://"
                                       ? ": this client has no TLS; use a proxy on this host"
                                       : ""));
    }
    Server server;
    server.authority = scanner.rest.substr(0, scanner.rest.find('/'));
    server.path = scanner.rest.substr(server.authority.size());
    while (!server.path.empty() && server.path.back() == '/') {
      server.path.pop_back();
    }
    Scanner authority{server.authority};
    if (authority.Take("[")) {
      server.host = authority.rest.substr(0, authority.rest.find(']'));
      authority.rest.remove_prefix(std::min(server.host.size() + 1, authority.rest.size()));
    } else {
      server.host = authority.rest.substr(0, authority.rest.find(':'));
      authority.rest.remove_prefix(server.host.size());
    }
    server.port = authority.rest.empty() ? "80" : authority.rest.substr(1);
    const bool is_number = !server.port.empty() && server.port.size() <= 5 &&
                           server.port.find_first_not_of("0123456789") == std::string::npos;
    for (const char c : url) {
      if (static_cast<unsigned char>(c) <= ' ' || c == '?' || c == '#' || c == '@') {
        throw std::invalid_argument(wrong);
      }
    }
    if (server.host.empty() || !is_number ||
        (!authority.rest.empty() && authority.rest.front() != ':')) {
      throw std::invalid_argument(wrong);
    }
    return server;
  }
};

struct Response {
  Answer answer;
  bool reusable = false;  // The connection may carry another request.
};

// One TCP connection that carries one request at a time. Throws Unavailable.
class Connection {
 public:
  Connection(const Server& server, Deadline deadline) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int failed = getaddrinfo(server.host.c_str(), server.port.c_str(), &hints, &found);
        failed != 0) {
      throw Unavailable("cannot resolve " + server.host + ": " + gai_strerror(failed));
    }
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, freeaddrinfo);
    int error = 0;
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
      socket_ = socket(each->ai_family, each->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                       each->ai_protocol);
      if (socket_ < 0) {
        error = errno;
        continue;
      }
      const int on = 1;
      setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      error = connect(socket_, each->ai_addr, each->ai_addrlen) == 0 ? 0 : errno;
      if (error == EINPROGRESS) {
        error = Await(POLLOUT, deadline) ? PendingError() : ETIMEDOUT;
      }
      if (error == 0) {
        return;
      }
      Close();
    }
    throw Unavailable("cannot connect to " + server.authority + ": " + std::strerror(error));
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { Close(); }

  // Whether the server has kept it open. It sends nothing unasked, so readable means closed.
  [[nodiscard]] bool IsUsable() const {
    pollfd waiting{socket_, POLLIN, 0};
    return poll(&waiting, 1, 0) == 0;
  }

  Response Exchange(std::string_view request, Deadline deadline) {
    while (!request.empty()) {
      const ssize_t sent = send(socket_, request.data(), request.size(), MSG_NOSIGNAL);
      if (sent >= 0) {
        request.remove_prefix(static_cast<std::size_t>(sent));
      } else {
        MayRetry(POLLOUT, deadline);
      }
    }
    Response response;
    while (true) {
      char bytes[16 * 1024];
      if (!Await(POLLIN, deadline)) {
        throw Unavailable("timed out");
      }
      const ssize_t got = recv(socket_, bytes, sizeof bytes, 0);
      if (got > 0) {
        data_.append(bytes, static_cast<std::size_t>(got));
      } else if (got < 0) {
        MayRetry(POLLIN, deadline);
        continue;
      }
      if (Parse(response, got == 0)) {
        data_.clear();
        return response;
      }
      if (got == 0) {
        throw Unavailable("the connection was closed before the response was complete");
      }
    }
  }

 private:
  void Close() {
    if (socket_ >= 0) {
      close(socket_);
      socket_ = -1;
    }
  }
  [[nodiscard]] int PendingError() const {
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size);
    return error;
  }
  // Until the socket is ready. False: the time is over.
  [[nodiscard]] bool Await(short events, Deadline deadline) const {
    while (true) {
      const auto left =
          std::chrono::ceil<Milliseconds>(deadline - std::chrono::steady_clock::now()).count();
      pollfd waiting{socket_, events, 0};
      const int ready =
          poll(&waiting, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000)));
      if (ready > 0) {
        return true;
      }
      if (ready == 0 || errno != EINTR) {
        return false;
      }
    }
  }
  void MayRetry(short events, Deadline deadline) const {
    if (errno == EINTR) {
      return;
    }
    if (errno != EAGAIN && errno != EWOULDBLOCK) {
      throw Unavailable(std::strerror(errno));
    }
    if (!Await(events, deadline)) {
      throw Unavailable("timed out");
    }
  }

  // Reads a response from `data_`; true once it is complete. `ended`: the server closed the
  // connection, which ends a body without a length.
  bool Parse(Response& response, bool ended) {
    std::size_t head_end = data_.find("\r\n\r\n");
    while (head_end != std::string::npos && data_.compare(0, 7, "HTTP/1.") == 0 &&
           data_[9] == '1') {
      data_.erase(0, head_end + 4);  // 100 and 103 come before the response.
      head_end = data_.find("\r\n\r\n");
    }
    if (head_end == std::string::npos) {
      if (data_.size() > kMostHead) {
        throw Unavailable("the response's head is too long");
      }
      return false;
    }
    const std::string_view head = std::string_view(data_).substr(0, head_end);
    Scanner status{head.substr(std::min<std::size_t>(9, head.size()))};
    response = {};
    if (head.substr(0, 7) != "HTTP/1." || !status.Number(3, response.answer.status)) {
      throw Unavailable("the response is not HTTP/1.1");
    }
    response.reusable = head[7] != '0';
    std::optional<std::size_t> length;
    bool chunked = false;
    ReadFields(head, response, length, chunked);
    if (response.answer.status == 204 || response.answer.status == 304) {
      length = 0;
      chunked = false;
    }
    const std::string_view rest = std::string_view(data_).substr(head_end + 4);
    if (chunked) {
      return ReadChunks(rest, response);
    }
    if (rest.size() > kMostBody) {
      throw Unavailable("the response's body is too long");
    }
    if (length ? rest.size() < *length : !ended) {
      return false;
    }
    response.answer.body = rest.substr(0, length.value_or(rest.size()));
    response.reusable &= length && rest.size() == *length;
    return true;
  }
  static void ReadFields(std::string_view head, Response& response,
                         std::optional<std::size_t>& length, bool& chunked) {
    for (std::size_t at = head.find("\r\n"); at != std::string_view::npos;) {
      const std::size_t end = head.find("\r\n", at + 2);
      const std::string_view line =
          head.substr(at + 2, end == std::string_view::npos ? end : end - at - 2);
      at = end;
      const std::size_t colon = std::min(line.find(':'), line.size());
      const std::string_view value = Trim(line.substr(std::min(colon + 1, line.size())));
      const std::string name = Lower(line.substr(0, colon));
      if (name == "content-length") {
        if (value.empty() || value.size() > 8 ||
            value.find_first_not_of("0123456789") != std::string_view::npos) {
          throw Unavailable("the response has a Content-Length that is no number or too large");
        }
        length = static_cast<std::size_t>(Saturated(value));
      } else if (name == "transfer-encoding") {
        chunked = Lower(value) == "chunked";
      } else if (name == "connection" && Lower(value).find("close") != std::string::npos) {
        response.reusable = false;
      }
      response.answer.fields.emplace_back(line.substr(0, colon), value);
    }
  }
  static bool ReadChunks(std::string_view rest, Response& response) {
    while (true) {
      const std::size_t line_end = rest.find("\r\n");
      if (line_end == std::string_view::npos) {
        return false;
      }
      const std::string_view digits =
          rest.substr(0, std::min(rest.find_first_not_of("0123456789abcdefABCDEF"), line_end));
      if (digits.empty() || digits.size() > 7) {
        throw Unavailable("the response has a chunk without a size");
      }
      const std::size_t size = std::stoul(std::string(digits), nullptr, 16);
      rest.remove_prefix(line_end + 2);
      if (size == 0) {
        if (rest.substr(0, 2) == "\r\n") {
          response.reusable &= rest.size() == 2;
          return true;
        }
        response.reusable = false;  // Trailers.
        return rest.find("\r\n\r\n") != std::string_view::npos;
      }
      if (response.answer.body.size() + size > kMostBody) {
        throw Unavailable("the response's body is too long");
      }
      if (rest.size() < size + 2) {
        return false;
      }
      response.answer.body += rest.substr(0, size);
      rest.remove_prefix(size + 2);
    }
  }

  int socket_ = -1;
  std::string data_;
};

}  // namespace sluice_client::detail
