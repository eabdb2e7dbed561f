// What a check costs the caller in CPU, beside a socket that sends and receives the same bytes.
//
//   cost URL [CHECKS]
//
// The best of five rounds, user and system time of this process alone. The difference is the
// client's own work.
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "sluice_client.h"

namespace {

template <class Work>
double Microseconds(int count, const Work& work) {
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const std::clock_t begin = std::clock();
    for (int i = 0; i < count; ++i) {
      work();
    }
    best = std::min(best, static_cast<double>(std::clock() - begin) * 1e6 / CLOCKS_PER_SEC / count);
  }
  return best;
}

// Blocking.
int Connect(const std::string& url) {
  const auto server = sluice_client::detail::Server::Of(url);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(server.port)));
  const int to = socket(AF_INET, SOCK_STREAM, 0);
  const int on = 1;
  setsockopt(to, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (connect(to, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    std::perror("connect");
    std::exit(1);
  }
  return to;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace sluice_client;
  if (argc < 2) {
    std::puts("usage: cost URL [CHECKS]");
    return 2;
  }
  const int count = argc > 2 ? std::atoi(argv[2]) : 20'000;
  const Attributes user = {{"user_id", "u_42"}, {"endpoint", "/charges"}, {"ip", "10.0.0.1"}};
  ClientOptions options;
  options.url = argv[1];
  options.timeout = Milliseconds(10'000);
  Client keyed(options);
  options.retries = 0;
  Client client(options);

  const std::string body = detail::CheckBody(user, {});
  const std::string request =
      "POST /v1/ratelimit/check HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
      "Content-Length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body;
  const int bare_socket = Connect(options.url);
  char bytes[65'536];
  const double bare = Microseconds(count, [&] {
    if (send(bare_socket, request.data(), request.size(), 0) < 0 ||
        recv(bare_socket, bytes, sizeof bytes, 0) <= 0) {
      std::abort();
    }
  });
  std::printf("socket alone                        %6.2f us\n", bare);
  const auto print = [&](const char* what, double time) {
    std::printf("%-35s %6.2f us, %.2f more\n", what, time, time - bare);
  };
  print("Check()", Microseconds(count, [&] { (void)client.Check(user); }));
  print("Check() with an idempotency key", Microseconds(count, [&] { (void)keyed.Check(user); }));
  const std::vector<BatchedCheck> batch(100, BatchedCheck{user, 1, false});
  std::printf("CheckMany(), 100 at once, each      %6.2f us\n",
              Microseconds(count / 100, [&] { (void)client.CheckMany(batch); }) / 100);
}
