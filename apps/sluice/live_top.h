#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ask_daemon.h"
#include "net/http_client.h"
#include "terminal.h"
#include "top_view.h"

namespace sluice::app {

struct TopOptions {
  AdminOptions admin;
  std::string rule;
  std::string kind = "all";
  std::string window = "minute";
  std::size_t keys = 10;
  bool once = false;
};

// The request for what these options ask.
[[nodiscard]] net::HttpCall TopCall(const TopOptions& options);

// The picture on a terminal, and what its keys do.
class LiveTop {
 public:
  LiveTop(const TopOptions& options, net::HttpUrl server)
      : options_(options), server_(std::move(server)) {}

  void Run();

 private:
  enum class Mode : std::uint8_t { kList, kFilter, kHelp, kConfirm };

  void Fetch();
  void Draw();
  [[nodiscard]] std::vector<std::string> List(std::size_t columns, std::size_t rows);
  [[nodiscard]] std::string Footer() const;
  // False: leave.
  bool OnKey(int key);
  bool OnListKey(int key);
  void OnFilterKey(int key);
  void Ask(char key);
  void Act();
  void Move(int by);
  [[nodiscard]] net::HttpCall Bounded(net::HttpCall call) const {
    call.timeout = std::chrono::milliseconds(2'000);
    return call;
  }

  TopOptions options_;
  const net::HttpUrl server_;
  Terminal terminal_;
  Mode mode_ = Mode::kList;
  TopAnswer answer_;
  std::string filter_;
  std::string note_;  // What happened last.
  std::size_t chosen_ = 0;
  std::size_t highlighted_ = 0;  // Its line.
  char verb_ = 0;                // What is to be confirmed, 'r' or 'u', of chosen_row_.
  TopRow chosen_row_;
  bool paused_ = false;
};

}  // namespace sluice::app
