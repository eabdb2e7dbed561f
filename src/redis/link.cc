#include "redis/link.h"

#include <array>
#include <fstream>
#include <iterator>
#include <utility>

#include "store/table_core.h"

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

Link::Link(net::EventLoop& loop, const RedisSettings& settings, const base::Clock& clock,
           RedisMetrics& metrics, const Channel::OnEvent& on_event)
    : loop_(loop),
      settings_(settings),
      channel_(settings.channel, clock, metrics, on_event, store::NextNonce()),
      wake_([this] {
        wake_at_ = Channel::Time::max();
        channel_.OnWake(Now());
        Pump();
      }),
      life_(std::make_shared<Life>(Life{this})) {
  Kick();
}

Link::~Link() {
  life_->link = nullptr;
  if (dial_ != nullptr) {
    dial_->Cancel();
  }
  if (handshake_ != nullptr) {
    handshake_->Cancel();
  }
  if (connection_ != nullptr) {
    connection_->Leave();
  }
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
  } else if (dial_ == nullptr && handshake_ == nullptr && channel_.WantsDial(Now())) {
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
  channel_.OnDialing();
  dial_ = net::Dial::Begin(loop_, settings_.target, settings_.dial_timeout,
                           [this](Result<std::unique_ptr<net::Transport>> transport) {
                             dial_ = nullptr;
                             OnDialed(std::move(transport));
                           });
}

void Link::OnDialed(Result<std::unique_ptr<net::Transport>> transport) {
  if (!transport) {
    Drop(transport.error().message);
    return;
  }
  if (settings_.tls == nullptr) {
    Begin(*std::move(transport));
    return;
  }
  auto context = settings_.tls();
  if (!context) {
    (*transport)->Close();
    Drop(context.error().Text());
    return;
  }
  const std::string& name = settings_.tls_name.empty() ? settings_.target.host : settings_.tls_name;
  handshake_ = net::TlsHandshake::Begin(loop_, *std::move(transport), *std::move(context), name,
                                        settings_.dial_timeout, nullptr,
                                        [this](Result<std::unique_ptr<net::Transport>> done) {
                                          handshake_ = nullptr;
                                          if (done) {
                                            Begin(*std::move(done));
                                          } else {
                                            Drop(done.error().message);
                                          }
                                        });
}

void Link::Begin(std::unique_ptr<net::Transport> transport) {
  const Result<Credentials> credentials = ReadCredentials();
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
  Pump();
}

Result<Credentials> Link::ReadCredentials() const {
  Credentials credentials{.username = settings_.username};
  if (!settings_.password_file.empty()) {
    std::ifstream file(settings_.password_file);
    credentials.password.assign(std::istreambuf_iterator<char>(file), {});
    if (!file) {
      return tl::unexpected(
          Error{.message = "cannot read the password file " + settings_.password_file});
    }
    while (credentials.password.ends_with('\n') || credentials.password.ends_with('\r')) {
      credentials.password.pop_back();
    }
  }
  return credentials;
}

}  // namespace sluice::redis
