#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/error.hpp>

#include "net/event_loop.h"
#include "net/transport.h"

namespace sluice::net {

// A client as the test plays it: bytes in by call, bytes out to a string. What the transport
// promises it keeps: no call from within a call, one end for each start.
class FakeClient {
 public:
  explicit FakeClient(EventLoop& loop, std::string peer = "192.0.2.7")
      : state_(std::make_shared<State>(loop, std::move(peer))) {}

  // The server's end. Once.
  [[nodiscard]] std::unique_ptr<Transport> MakeTransport() { return std::make_unique<End>(state_); }

  void Send(std::string_view bytes) {
    state_->input += bytes;
    state_->Deliver();
  }
  void EndInput() {
    state_->input_ended = true;
    state_->Deliver();
  }
  // Gone without a word: reads and writes fail from now on.
  void Vanish() {
    state_->vanished = true;
    state_->Deliver();
    state_->FinishWrite();
  }
  // While held, writes do not end: a client that reads nothing.
  void HoldWrites(bool held) {
    state_->writes_held = held;
    state_->FinishWrite();
  }

  [[nodiscard]] std::string& received() { return state_->output; }
  [[nodiscard]] bool closed() const { return state_->closed; }
  [[nodiscard]] bool write_shut() const { return state_->write_shut; }
  [[nodiscard]] int writes() const { return state_->writes; }
  // Bytes sent and not read by the server.
  [[nodiscard]] std::size_t unread() const { return state_->input.size(); }

 private:
  struct State : std::enable_shared_from_this<State> {
    State(EventLoop& on, std::string from) : loop(on), peer(std::move(from)) {}

    // Ends the read under way, if something is there to end it.
    void Deliver() {
      if (reader == nullptr || (input.empty() && !input_ended && !vanished && !closed)) {
        return;
      }
      loop.Post([self = shared_from_this(), user = std::exchange(reader, nullptr)] {
        boost::system::error_code error;
        std::size_t size = 0;
        if (self->closed) {
          error = boost::asio::error::operation_aborted;
        } else if (self->vanished) {
          error = boost::asio::error::connection_reset;
        } else if (self->input.empty()) {
          error = boost::asio::error::eof;
        } else {
          size = std::min(self->into.size(), self->input.size());
          std::copy_n(self->input.begin(), size, self->into.begin());
          self->input.erase(0, size);
        }
        user->OnRead(error, size);
      });
    }

    void FinishWrite() {
      if (writer == nullptr || (writes_held && !vanished && !closed)) {
        return;
      }
      loop.Post([self = shared_from_this(), user = std::exchange(writer, nullptr)] {
        boost::system::error_code error;
        if (self->closed) {
          error = boost::asio::error::operation_aborted;
        } else if (self->vanished) {
          error = boost::asio::error::broken_pipe;
        } else {
          self->output += self->being_written;
        }
        user->OnWritten(error);
      });
    }

    EventLoop& loop;
    const std::string peer;
    std::string input;
    std::string output;
    std::string_view being_written;
    std::span<char> into;
    std::shared_ptr<TransportUser> reader;
    std::shared_ptr<TransportUser> writer;
    int writes = 0;
    bool input_ended = false;
    bool vanished = false;
    bool writes_held = false;
    bool write_shut = false;
    bool closed = false;
  };

  class End final : public Transport {
   public:
    explicit End(std::shared_ptr<State> state) : state_(std::move(state)) {}
    ~End() override { Close(); }

    void Read(std::span<char> into, std::shared_ptr<TransportUser> user) override {
      state_->into = into;
      state_->reader = std::move(user);
      state_->Deliver();
    }
    void Write(std::string_view bytes, std::shared_ptr<TransportUser> user) override {
      ++state_->writes;
      state_->being_written = bytes;
      state_->writer = std::move(user);
      state_->FinishWrite();
    }
    void ShutdownWrite() noexcept override { state_->write_shut = true; }
    void Close() noexcept override {
      state_->closed = true;
      state_->Deliver();
      state_->FinishWrite();
    }
    [[nodiscard]] std::string_view peer_address() const override { return state_->peer; }

   private:
    std::shared_ptr<State> state_;
  };

  std::shared_ptr<State> state_;
};

}  // namespace sluice::net
