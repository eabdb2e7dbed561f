#include "support/redis_proxy.h"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

namespace sluice::support {

namespace {

using Socket = boost::asio::local::stream_protocol::socket;
using Error = boost::system::error_code;

}  // namespace

// One client's connection and the one behind it. Lives as long as something is under way on either.
class RedisProxy::Pair : public std::enable_shared_from_this<Pair> {
 public:
  Pair(RedisProxy& proxy, Socket client)
      : proxy_(&proxy),
        client_(std::move(client)),
        server_(proxy.loop_.context()),
        timer_([this] { SendReplies(); }) {}

  void Begin() {
    Error error;
    server_.connect(proxy_->server_, error);
    if (error) {
      Close();
      return;
    }
    ReadCommands();
    ReadReplies();
  }

  // The proxy is going.
  void Leave() {
    proxy_ = nullptr;
    Close();
  }

  void Close() {
    Error ignored;
    client_.close(ignored);
    server_.close(ignored);
    timer_.Cancel();
    replies_.clear();
  }

 private:
  struct Reply {
    net::SteadyTime due;
    std::string bytes;
  };

  void ReadCommands() {
    client_.async_read_some(
        boost::asio::buffer(commands_),
        [this, self = shared_from_this()](const Error& error, std::size_t size) {
          if (error) {
            Close();
            return;
          }
          boost::asio::async_write(server_, boost::asio::buffer(commands_.data(), size),
                                   [this, self](const Error& failed, std::size_t) {
                                     failed ? Close() : ReadCommands();
                                   });
        });
  }

  void ReadReplies() {
    server_.async_read_some(boost::asio::buffer(input_), [this, self = shared_from_this()](
                                                             const Error& error, std::size_t size) {
      if (error || proxy_ == nullptr) {
        Close();
        return;
      }
      replies_.push_back({.due = std::chrono::steady_clock::now() + proxy_->delay_,
                          .bytes = std::string(input_.data(), size)});
      SendReplies();
      ReadReplies();
    });
  }

  void SendReplies() {
    if (sending_ || replies_.empty() || proxy_ == nullptr) {
      return;
    }
    if (replies_.front().due > std::chrono::steady_clock::now()) {
      proxy_->loop_.Arm(timer_, replies_.front().due, net::TimerPrecision::kExact);
      return;
    }
    output_ = std::move(replies_.front().bytes);
    replies_.pop_front();
    bool cut = false;
    if (proxy_->left_) {
      cut = output_.size() >= *proxy_->left_;
      output_.resize(std::min(output_.size(), *proxy_->left_));
      *proxy_->left_ -= output_.size();
      if (cut) {
        proxy_->left_.reset();
      }
    }
    sending_ = true;
    boost::asio::async_write(
        client_, boost::asio::buffer(output_),
        [this, self = shared_from_this(), cut](const Error& error, std::size_t) {
          sending_ = false;
          error || cut ? Close() : SendReplies();
        });
  }

  RedisProxy* proxy_;  // nullptr once it is gone.
  Socket client_;
  Socket server_;
  net::Timer timer_;
  std::array<char, 16 * 1024> commands_{};
  std::array<char, 16 * 1024> input_{};
  std::deque<Reply> replies_;
  std::string output_;
  bool sending_ = false;
};

RedisProxy::RedisProxy(net::EventLoop& loop, std::string server, const std::string& path)
    : loop_(loop),
      server_(std::move(server)),
      acceptor_(loop.context(), boost::asio::local::stream_protocol::endpoint(path)),
      next_(loop.context()) {
  Accept();
}

RedisProxy::~RedisProxy() {
  for (const auto& pair : pairs_) {
    if (const auto alive = pair.lock()) {
      alive->Leave();
    }
  }
}

void RedisProxy::Accept() {
  acceptor_.async_accept(next_, [this](const Error& error) {
    if (error) {
      return;  // Perhaps the proxy is gone.
    }
    const auto pair = std::make_shared<Pair>(*this, std::exchange(next_, Socket(loop_.context())));
    pairs_.remove_if([](const std::weak_ptr<Pair>& gone) { return gone.expired(); });
    pairs_.push_back(pair);
    pair->Begin();
    Accept();
  });
}

void RedisProxy::Cut() {
  for (const auto& pair : pairs_) {
    if (const auto alive = pair.lock()) {
      alive->Close();
    }
  }
}

}  // namespace sluice::support
