#include "redis/link.h"

#include <array>
#include <utility>

#include "base/assert.h"
#include "base/random.h"
#include "net/event_loop.h"

namespace sluice::redis {

namespace {

Channel::Time Now() {
  return std::chrono::steady_clock::now();
}

}  // namespace

struct Link::Life {
  Link* link;
};

// One connection: its buffers live as long as reads and writes are under way on it.
class Link::Connection final : public net::TransportUser,
                               public std::enable_shared_from_this<Connection> {
 public:
  Connection(Link& link, std::unique_ptr<net::Transport> transport)
      : link_(&link), transport_(std::move(transport)) {}

  void Read() { transport_->Read(input_, shared_from_this()); }

  void Write(Channel& channel) {
    if (!writing_ && channel.HasOutput()) {
      channel.TakeOutput(output_);
      writing_ = true;
      transport_->Write(output_, shared_from_this());
    }
  }

  void Leave() {
    link_ = nullptr;
    transport_->Close();
  }

  void OnRead(const boost::system::error_code& error, std::size_t size) noexcept override {
    if (link_ == nullptr) {
      return;
    }
    if (error) {
      link_->Drop(error.message());
      return;
    }
    link_->channel_.OnInput({input_.data(), size}, Now());
    if (link_ != nullptr) {
      link_->Pump();
    }
    if (link_ != nullptr) {
      Read();
    }
  }

  void OnWritten(const boost::system::error_code& error) noexcept override {
    writing_ = false;
    if (link_ == nullptr) {
      return;
    }
    if (error) {
      link_->Drop(error.message());
    } else {
      Write(link_->channel_);
    }
  }

 private:
  Link* link_;  // nullptr once the link has left it.
  std::unique_ptr<net::Transport> transport_;
  std::array<char, 16 * 1024> input_{};
  std::string output_;
  bool writing_ = false;
};

Link::Link(net::EventLoop& loop, const RedisSettings& settings,
           std::optional<net::DialTarget> target, const base::Clock& clock, RedisMetrics& metrics,
           const Channel::OnEvent& on_event, std::function<void()> on_lost)
    : loop_(loop),
      settings_(settings),
      target_(std::move(target)),
      on_lost_(std::move(on_lost)),
      channel_(settings.channel, clock, metrics, on_event, base::UniqueNumber()),
      wake_([this] {
        wake_at_ = Channel::Time::max();
        channel_.OnWake(Now());
        Pump();
      }),
      life_(std::make_shared<Life>(Life{this})) {
  if (!target_) {
    channel_.OnDialing();  // Calls wait for it, as long as they may.
  }
  Kick();
}

Link::~Link() {
  life_->link = nullptr;
  if (connection_ != nullptr) {
    connection_->Leave();
  }
}

void Link::Aim(const net::DialTarget& target) {
  if (target_ && target_->host == target.host && target_->port == target.port) {
    return;
  }
  const bool first = !target_.has_value();
  target_ = target;
  if (first) {
    StartDial();
  } else if (connection_ != nullptr) {
    channel_.Leave("another server is the primary now", Now());
  } else if (opening_ != nullptr) {
    opening_ = nullptr;
    channel_.OnLost("another server is the primary now", Now());
    channel_.DialSoon(Now());
  } else {
    channel_.DialSoon(Now());
  }
  Kick();
}

bool Link::RunsHere() const {
  return loop_.context().get_executor().running_in_this_thread();
}

void Link::Kick() {
  if (kicked_) {
    return;
  }
  kicked_ = true;
  loop_.Post([life = life_] {
    if (life->link != nullptr) {
      life->link->kicked_ = false;
      life->link->Pump();
    }
  });
}

void Link::Pump() {
  if (channel_.WantsClose() && connection_ != nullptr) {
    const std::string why = channel_.close_why();
    Drop(why);
    return;
  }
  if (connection_ != nullptr) {
    connection_->Write(channel_);
  } else if (opening_ == nullptr && target_ && channel_.WantsDial(Now())) {
    StartDial();
  }
  ArmWake();
}

void Link::ArmWake() {
  const Channel::Time next = channel_.NextWake();
  if (next < wake_at_) {
    wake_at_ = next;
    loop_.Arm(wake_, next, net::TimerPrecision::kExact);
  }
}

void Link::StartDial() {
  SLUICE_ASSERT(target_.has_value());
  channel_.OnDialing();
  opening_ = std::make_unique<Opening>(loop_, settings_.opening, *target_,
                                       [this](Result<std::unique_ptr<net::Transport>> transport) {
                                         const std::unique_ptr<Opening> done = std::move(opening_);
                                         if (transport) {
                                           Begin(*std::move(transport));
                                         } else {
                                           Drop(transport.error().Text());
                                         }
                                       });
}

void Link::Begin(std::unique_ptr<net::Transport> transport) {
  const Result<Credentials> credentials =
      ReadCredentials(settings_.username, settings_.password_file, settings_.password);
  if (!credentials) {
    transport->Close();
    Drop(credentials.error().message);
    return;
  }
  connection_ = std::make_shared<Connection>(*this, std::move(transport));
  channel_.OnConnected(*credentials, Now());
  connection_->Read();
  Pump();
}

void Link::Drop(std::string_view why) {
  if (connection_ != nullptr) {
    std::exchange(connection_, nullptr)->Leave();
  }
  channel_.OnLost(why, Now());
  if (on_lost_) {
    on_lost_();
  }
  Pump();
}

}  // namespace sluice::redis
