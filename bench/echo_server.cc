// The control of bench/http.sh: the least that a server can do for HTTP requests, so that what
// the kernel takes for its part (waking up, reading, writing, loopback TCP) can be told from
// what we take. One thread, bare epoll; per turn one read, one write: a fixed answer, as long as
// that of a check, for each request, found by its first bytes and no more understood than that.
//
//   echo_server        prints the port that it listens on at 127.0.0.1, runs until killed

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

constexpr std::string_view kAnswer =
    "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
    "X-RateLimit-Limit: 1000000000\r\nX-RateLimit-Remaining: 999999999\r\n"
    "X-RateLimit-Reset: 1714473660\r\nRateLimit-Policy: \"api_rate\";q=1000000000;w=60\r\n"
    "RateLimit: \"api_rate\";r=999999999;t=60\r\n"
    "Content-Type: application/json\r\nContent-Length: 185\r\n\r\n"
    R"({"allowed": true, "remaining": 999999999, "reset_at": 1714473660, "limits": [{"name": )"
    R"("api_rate", "allowed": true, "limit": 1000000000, "remaining": 999999999, "reset_at": )"
    R"(1714473660}]})";

void Require(bool held, const char* what) {
  if (!held) {
    std::perror(what);
    std::_Exit(1);
  }
}

// How many requests begin in `bytes`. A read that ends inside "POST " loses one: rare enough.
std::size_t RequestsIn(std::string_view bytes) {
  std::size_t count = 0;
  for (std::size_t at = bytes.find("POST "); at != std::string_view::npos;
       at = bytes.find("POST ", at + 5)) {
    ++count;
  }
  return count;
}

void Serve(int connection, std::string& answers) {
  std::array<char, 8192> bytes;  // NOLINT: what is read is written first.
  const ssize_t got = recv(connection, bytes.data(), bytes.size(), 0);
  if (got <= 0) {
    close(connection);
    return;
  }
  answers.clear();
  for (std::size_t n = RequestsIn({bytes.data(), static_cast<std::size_t>(got)}); n > 0; --n) {
    answers += kAnswer;
  }
  if (!answers.empty()) {
    (void)send(connection, answers.data(), answers.size(), MSG_NOSIGNAL);
  }
}

}  // namespace

int main() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  Require(listener >= 0, "socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  Require(bind(listener, any, size) == 0 && listen(listener, SOMAXCONN) == 0, "listen");
  Require(getsockname(listener, any, &size) == 0, "getsockname");
  std::printf("%d\n", ntohs(address.sin_port));
  std::fflush(stdout);

  const int epoll = epoll_create1(0);
  epoll_event wanted{.events = EPOLLIN, .data = {.fd = listener}};
  Require(epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &wanted) == 0, "epoll_ctl");
  std::string answers;
  std::array<epoll_event, 128> events{};
  for (;;) {
    const int count = epoll_wait(epoll, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < count; ++i) {
      const int ready = events[static_cast<std::size_t>(i)].data.fd;
      if (ready != listener) {
        Serve(ready, answers);
        continue;
      }
      const int connection = accept(listener, nullptr, nullptr);
      if (connection >= 0) {
        const int on = 1;
        setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        wanted.data.fd = connection;
        epoll_ctl(epoll, EPOLL_CTL_ADD, connection, &wanted);
      }
    }
  }
}
