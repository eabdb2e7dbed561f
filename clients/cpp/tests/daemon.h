#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

// A daemon of the binary that the environment variable SLUICE names, on a free port.
class Daemon {
 public:
  Daemon() {
    std::string name = std::filesystem::temp_directory_path() / "sluice_client.XXXXXX";
    folder_ = mkdtemp(name.data());
    std::ofstream(folder_ / "rules.yaml") << R"(
rules:
  - {id: api, match: {endpoint: /api}, key_pattern: "user:{user_id}", algorithm: token_bucket, rate: 3, window: 1h, burst: 3}
  - {id: quick, match: {endpoint: /quick}, key_pattern: "user:{user_id}", algorithm: token_bucket, rate: 1, window: 50ms, burst: 1}
  - {id: jobs, match: {endpoint: /jobs}, key_pattern: "tenant:{tenant}", algorithm: concurrency, limit: 1, hold_ttl: 10s}
  - {id: tokens, match: {endpoint: /llm}, key_pattern: "user:{user_id}", algorithm: token_bucket, rate: 1000, window: 30d, burst: 1000}
  - {id: never, match: {endpoint: /never}, key_pattern: "user:{user_id}", algorithm: fixed_window, limit: 0, window: 1m}
)";
    std::ofstream(folder_ / "sluice.yaml") << "listeners: [{address: \"127.0.0.1:0\"}]\n"
                                              "table: {keys: 1000}\n"
                                              "rule_sources: [{files: [rules.yaml]}]\n";
    Start();
  }
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;
  ~Daemon() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    std::filesystem::remove_all(folder_);
  }

  const std::string& url() const { return url_; }

 private:
  void Start() {
    int ends[2];
    if (pipe(ends) != 0 || (process_ = fork()) < 0) {
      throw std::runtime_error("cannot start a process");
    }
    if (process_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      dup2(open((folder_ / "log").c_str(), O_CREAT | O_WRONLY, 0600), STDERR_FILENO);
      if (chdir(folder_.c_str()) == 0) {
        execl(std::getenv("SLUICE"), "sluice", "serve", "--config", "sluice.yaml", nullptr);
      }
      _exit(127);
    }
    close(ends[1]);
    FILE* const greeting = fdopen(ends[0], "r");
    char line[512];
    while (url_.empty() && fgets(line, sizeof line, greeting) != nullptr) {
      char address[256];
      if (sscanf(line, "  checks %255s", address) == 1) {
        url_ = address;
      }
    }
    fclose(greeting);
    if (url_.empty()) {
      throw std::runtime_error("the daemon did not start: see " + (folder_ / "log").string());
    }
  }

  std::filesystem::path folder_;
  pid_t process_ = -1;
  std::string url_;
};

// A server that answers each connection once: with `answer`, or not at all if that is "-".
class OneAnswerServer {
 public:
  explicit OneAnswerServer(std::string answer) : answer_(std::move(answer)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    listener_ = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        listen(listener_, 8) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw std::runtime_error("cannot listen");
    }
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { Serve(); });
  }
  OneAnswerServer(const OneAnswerServer&) = delete;
  OneAnswerServer& operator=(const OneAnswerServer&) = delete;
  ~OneAnswerServer() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  const std::string& url() const { return url_; }
  // Of requests; read once the client has its answers.
  int count() const { return count_; }

 private:
  void Serve() {
    std::vector<int> silent;
    while (true) {
      const int connection = accept(listener_, nullptr, nullptr);
      if (connection < 0) {
        break;
      }
      char bytes[4096];
      if (answer_ == "-") {
        silent.push_back(connection);
        continue;
      }
      if (recv(connection, bytes, sizeof bytes, 0) > 0) {
        ++count_;
        send(connection, answer_.data(), answer_.size(), MSG_NOSIGNAL);
      }
      close(connection);
    }
    for (const int connection : silent) {
      close(connection);
    }
  }

  const std::string answer_;
  int listener_ = -1;
  std::string url_;
  std::atomic<int> count_{0};
  std::thread thread_;
};
