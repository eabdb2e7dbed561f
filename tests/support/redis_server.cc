#include "support/redis_server.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wire/resp_reply_parser.h"
#include "wire/resp_writer.h"

namespace sluice::support {

namespace {

[[noreturn]] void GiveUp(const std::string& why) {
  std::fprintf(stderr, "redis-server for a test: %s\n", why.c_str());
  std::abort();
}

std::string TextOf(std::span<const wire::RespNode> reply) {
  std::string text;
  for (const wire::RespNode& node : reply) {
    if (node.type == wire::RespType::kArray || node.type == wire::RespType::kMap) {
      continue;
    }
    text += text.empty() ? "" : " ";
    if (node.type == wire::RespType::kInteger) {
      text += std::to_string(node.integer);
    } else {
      text += node.type == wire::RespType::kError ? "-" : "";
      text += node.text;
    }
  }
  return text;
}

}  // namespace

RedisServer::RedisServer(std::vector<std::string> options) : RedisServer(Bare()) {
  options_ = std::move(options);
  Start();
}

std::unique_ptr<RedisServer> RedisServer::Sentinel(int port, int primary_port,
                                                   const std::string& lines) {
  std::unique_ptr<RedisServer> sentinel(new RedisServer(Bare()));
  const std::string file = sentinel->folder_ + "/sentinel.conf";
  std::ofstream(file) << "port " << port << "\nbind 127.0.0.1\ndir " << sentinel->folder_
                      << "\nsentinel monitor mymaster 127.0.0.1 " << primary_port
                      << " 1\nsentinel down-after-milliseconds mymaster 500"
                         "\nsentinel failover-timeout mymaster 3000\n"
                      << lines;
  sentinel->Launch({"redis-server", file, "--sentinel"}, "+monitor master");
  return sentinel;
}

RedisServer::~RedisServer() {
  Kill();
}

void RedisServer::Start() {
  std::vector<std::string> args{"redis-server", "--port",      "0",     "--unixsocket",
                                socket_path_,   "--save",      "",      "--appendonly",
                                "no",           "--daemonize", "no",    "--dir",
                                folder_,        "--loglevel",  "notice"};
  args.insert(args.end(), options_.begin(), options_.end());
  Launch(std::move(args), "eady to accept connections");
}

void RedisServer::Launch(std::vector<std::string> args, const char* ready) {
  std::array<int, 2> log{};
  if (::pipe2(log.data(), O_CLOEXEC) != 0) {
    GiveUp("no pipe for its log");
  }
  std::vector<char*> argv;
  for (std::string& arg : args) {
    argv.push_back(arg.data());
  }
  argv.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // It must not outlive a test that crashes.
    ::dup2(log[1], STDOUT_FILENO);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(log[1]);
  std::string said;
  std::array<char, 4096> some{};
  while (said.find(ready) == std::string::npos) {
    const ssize_t got = ::read(log[0], some.data(), some.size());
    if (got <= 0) {
      GiveUp("it did not start (is the package redis-server installed?):\n" + said);
    }
    said.append(some.data(), static_cast<std::size_t>(got));
  }
  // What it logs later would block it once the pipe is full or end it once that is closed: it
  // ignores the latter.
  ::close(log[0]);
}

void RedisServer::Pause() const {
  ::kill(pid_, SIGSTOP);
}

void RedisServer::Resume() const {
  ::kill(pid_, SIGCONT);
}

void RedisServer::Kill() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
    std::error_code ignored;
    std::filesystem::remove(socket_path_, ignored);
  }
}

std::string RedisServer::Run(std::initializer_list<std::string_view> args) {
  const std::optional<std::string> text = RunUnlessHungUp(args);
  if (!text) {
    GiveUp("it hung up");
  }
  return *text;
}

std::optional<std::string> RedisServer::RunUnlessHungUp(
    std::initializer_list<std::string_view> args) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket_path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    GiveUp("cannot connect to it");
  }
  std::string bytes;
  int replies = 1;
  if (!password_.empty()) {
    const std::array<std::string_view, 2> auth{"AUTH", password_};
    wire::AppendRespCommand(auth, bytes);
    ++replies;
  }
  wire::AppendRespCommand(std::span(args.begin(), args.size()), bytes);
  if (::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size())) {
    ::close(fd);
    return std::nullopt;  // It has closed the connection that it had accepted.
  }
  wire::RespReplyParser parser;
  std::string text;
  std::array<char, 4096> some{};
  while (replies > 0) {
    const auto event = parser.Next();
    if (event == wire::RespReplyParser::Event::kReply) {
      text = TextOf(parser.reply());
      --replies;
      continue;
    }
    const ssize_t got = ::read(fd, some.data(), some.size());
    if (got <= 0) {
      ::close(fd);
      return std::nullopt;
    }
    parser.Append({some.data(), static_cast<std::size_t>(got)});
  }
  ::close(fd);
  return text;
}

int FreePort() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (fd < 0 || ::bind(fd, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    GiveUp("no free port");
  }
  ::close(fd);
  return ntohs(address.sin_port);
}

void WaitUntil(const std::function<bool()>& done, const char* what) {
  constexpr int kEveryMs = 5;
  constexpr int kTimes = 6000;
  for (int i = 0; i < kTimes; ++i) {
    if (done()) {
      return;
    }
    ::poll(nullptr, 0, kEveryMs);
  }
  GiveUp(std::string("did not happen: ") + what);
}

}  // namespace sluice::support
