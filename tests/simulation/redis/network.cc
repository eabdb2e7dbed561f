#include "simulation/redis/network.h"

#include <algorithm>
#include <utility>

namespace sluice::redis {

using std::chrono::microseconds;

std::int64_t Network::Draw(std::int64_t below) {
  return std::uniform_int_distribution<std::int64_t>(0, below - 1)(random_);
}

Duration Network::Delay() {
  if (now_ < quiet_from_ && Chance(30)) {
    return microseconds(Draw(60'000));
  }
  return microseconds(50 + Draw(900));
}

void Network::At(Time when, std::function<void()> run) {
  queue_.push_back({.at = when, .number = ++events_, .run = std::move(run)});
  std::ranges::push_heap(queue_, std::greater<>());
}

bool Network::Step(Time end) {
  if (queue_.empty() || queue_.front().at >= end) {
    return false;
  }
  std::ranges::pop_heap(queue_, std::greater<>());
  const Event event = std::move(queue_.back());
  queue_.pop_back();
  clock_.Advance(event.at - now_);
  now_ = event.at;
  event.run();
  return true;
}

Line::Line(Network& network, Channel& channel, Host& host, std::function<void()> on_lost)
    : network_(network),
      channel_(channel),
      host_(host),
      on_lost_(std::move(on_lost)),
      life_(std::make_shared<Line*>(this)) {}

Line::~Line() {
  if (connection_ != nullptr) {
    connection_->node_open = false;
    connection_->host_open = network_.Chance(500);
  }
}

void Line::At(Network::Time when, std::function<void(Line&)> run) {
  network_.At(when, [life = std::weak_ptr(life_), run = std::move(run)] {
    if (const auto line = life.lock()) {
      run(**line);
    }
  });
}

void Line::Pump() {
  if (connection_ != nullptr && channel_.WantsClose()) {
    Drop("the channel wanted it");
    return;
  }
  if (connection_ != nullptr) {
    if (channel_.HasOutput()) {
      std::string bytes;
      channel_.TakeOutput(bytes);
      ToHost(connection_, bytes);
    }
  } else if (!dialing_ && channel_.WantsDial(network_.now())) {
    Dial();
  }
  const Network::Time next = std::max(channel_.NextWake(), network_.now() + microseconds(1));
  if (next < wake_at_ && next < network_.now() + std::chrono::hours(1)) {
    wake_at_ = next;
    At(next, [next](Line& line) {
      if (line.wake_at_ == next) {
        line.wake_at_ = Network::Time::max();
        line.channel_.OnWake(line.network_.now());
        line.Pump();
      }
    });
  }
}

void Line::Dial() {
  dialing_ = true;
  channel_.OnDialing();
  At(network_.now() + network_.Delay(), [](Line& line) {
    line.dialing_ = false;
    if (!line.host_.there || !line.reachable_) {
      line.Lose("nobody is there");
      return;
    }
    line.connection_ = std::make_shared<Connection>();
    line.channel_.OnConnected({}, line.network_.now());
    line.Pump();
  });
}

void Line::Drop(const char* why) {
  if (connection_ != nullptr) {
    connection_->node_open = false;
    // What is on its way may still arrive, and run.
    connection_->host_open &= network_.Chance(500);
    connection_ = nullptr;
    Lose(why);
  }
}

void Line::Lose(const char* why) {
  channel_.OnLost(why, network_.now());
  if (on_lost_) {
    on_lost_();
  }
  Pump();
}

void Line::Cut() {
  reachable_ = false;
  if (connection_ != nullptr) {
    connection_->host_open = false;
  }
}

void Line::Carry(Network& network, Network::Time& last, const std::string& bytes,
                 const std::function<void(std::string piece)>& arrive) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t left = bytes.size() - at;
    const std::size_t size =
        network.Chance(100)
            ? 1 + static_cast<std::size_t>(network.Draw(static_cast<std::int64_t>(left)))
            : left;
    last = std::max(last, network.now() + network.Delay());
    network.At(last, [arrive, piece = bytes.substr(at, size)] { arrive(piece); });
    at += size;
  }
}

void Line::ToHost(const std::shared_ptr<Connection>& connection, const std::string& bytes) {
  Carry(network_, connection->to_host, bytes,
        [&network = network_, &host = host_, connection,
         life = std::weak_ptr(life_)](const std::string& piece) {
          connection->inbox += piece;
          Serve(network, host, connection, life);
        });
}

void Line::Serve(Network& network, Host& host, const std::shared_ptr<Connection>& connection,
                 const std::weak_ptr<Line*>& line) {
  if (!connection->host_open || !host.there || connection->waits) {
    return;
  }
  if (network.now() < host.stalled_until) {
    connection->waits = true;
    network.At(host.stalled_until, [&network, &host, connection, line] {
      connection->waits = false;
      Serve(network, host, connection, line);
    });
    return;
  }
  connection->parser.Append(connection->inbox);
  connection->inbox.clear();
  std::string replies;
  while (connection->parser.Next() == wire::RespCommandParser::Event::kCommand) {
    replies += host.Execute(connection->parser, connection->session);
  }
  Carry(network, connection->to_node, replies, [connection, line](const std::string& piece) {
    if (const auto alive = line.lock(); alive != nullptr && connection->node_open) {
      (*alive)->channel_.OnInput(piece, (*alive)->network_.now());
      (*alive)->Pump();
    }
  });
}

}  // namespace sluice::redis
