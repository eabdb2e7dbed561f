#include "redis/sentinel_watch.h"

#include <utility>

#include <fmt/format.h>

#include "base/random.h"
#include "net/event_loop.h"
#include "wire/resp_writer.h"

namespace sluice::redis {

namespace {

using wire::RespType;

constexpr auto kTick = std::chrono::seconds(1);
constexpr auto kSilent = std::chrono::seconds(3);  // Then it is given up: it is PINGed each tick.
constexpr int kShortestPauseMs = 250;
constexpr int kLongestPauseMs = 500;

bool IsText(const wire::RespNode& node) {
  return node.type == RespType::kBulk || node.type == RespType::kSimple;
}

std::optional<net::DialTarget> TargetOf(std::string_view host, std::string_view port) {
  const net::DialTarget named{.host = std::string(host), .port = std::string(port), .path = {}};
  auto target = net::ParseDialTarget(named.Text(), "6379");
  if (!target) {
    return std::nullopt;
  }
  return *std::move(target);
}

// The address in "mymaster 10.0.0.1 6379 10.0.0.2 6379", if it is of `primary`.
std::optional<net::DialTarget> SwitchedTo(std::string_view message, std::string_view primary) {
  std::array<std::string_view, 5> words{};
  for (std::string_view& word : words) {
    const std::size_t end = message.find(' ');
    word = message.substr(0, end);
    message = end == std::string_view::npos ? std::string_view() : message.substr(end + 1);
  }
  return words[0] == primary ? TargetOf(words[3], words[4]) : std::nullopt;
}

}  // namespace

class SentinelWatch::Connection final : public net::TransportUser,
                                        public std::enable_shared_from_this<Connection> {
 public:
  Connection(SentinelWatch& watch, std::unique_ptr<net::Transport> transport)
      : watch_(&watch), transport_(std::move(transport)) {}

  void Read() { transport_->Read(input_, shared_from_this()); }
  void Write(std::initializer_list<std::string_view> args) {
    wire::AppendRespCommand(std::span(args.begin(), args.size()), unsent_);
  }
  void Flush() {
    if (!writing_ && !unsent_.empty()) {
      sent_.clear();
      std::swap(sent_, unsent_);
      writing_ = true;
      transport_->Write(sent_, shared_from_this());
    }
  }
  void Leave() {
    watch_ = nullptr;
    transport_->Close();
  }

  void OnRead(const boost::system::error_code& error, std::size_t size) noexcept override {
    if (watch_ == nullptr) {
      return;
    }
    if (error) {
      watch_->AskNext(error.message());
      return;
    }
    watch_->OnInput({input_.data(), size});
    if (watch_ != nullptr) {
      Read();
    }
  }
  void OnWritten(const boost::system::error_code& error) noexcept override {
    writing_ = false;
    if (watch_ == nullptr) {
      return;
    }
    if (error) {
      watch_->AskNext(error.message());
    } else {
      Flush();
    }
  }

 private:
  SentinelWatch* watch_;  // nullptr once it was left.
  std::unique_ptr<net::Transport> transport_;
  std::array<char, 4096> input_{};
  std::string unsent_;
  std::string sent_;
  bool writing_ = false;
};

SentinelWatch::SentinelWatch(net::EventLoop& loop, const SentinelSettings& settings,
                             const OpeningSettings& opening, OnPrimary on_primary,
                             OnTrouble on_trouble)
    : loop_(loop),
      settings_(settings),
      opening_settings_(opening),
      on_primary_(std::move(on_primary)),
      on_trouble_(std::move(on_trouble)),
      pause_([this] { Open(); }),
      tick_([this] { OnTick(); }) {
  Open();
}

SentinelWatch::~SentinelWatch() {
  Leave();
}

void SentinelWatch::Leave() {
  opening_ = nullptr;
  if (connection_ != nullptr) {
    std::exchange(connection_, nullptr)->Leave();
  }
  tick_.Cancel();
}

void SentinelWatch::AskAnew() {
  // A Sentinel that has not answered yet is already being asked.
  if (connection_ != nullptr && answered_) {
    AskNext("");
  }
}

// "" for `why`: it was of use, but somebody else may know more.
void SentinelWatch::AskNext(std::string_view why) {
  const bool of_use = why.empty();
  if (!of_use && in_vain_ == 0) {
    on_trouble_(
        fmt::format("cannot use the Sentinel {}: {}", settings_.sentinels[next_].Text(), why));
  }
  Leave();
  next_ = (next_ + 1) % settings_.sentinels.size();
  in_vain_ = of_use ? 0 : in_vain_ + 1;
  // Asked in turn without delay, but never round and round.
  const bool at_once = !of_use && in_vain_ % settings_.sentinels.size() != 0;
  const auto pause = at_once ? 0 : base::ThreadRandom().Between(kShortestPauseMs, kLongestPauseMs);
  loop_.ArmAfter(pause_, std::chrono::milliseconds(pause), net::TimerPrecision::kExact);
}

void SentinelWatch::Open() {
  opening_ = std::make_unique<Opening>(loop_, opening_settings_, settings_.sentinels[next_],
                                       [this](Result<std::unique_ptr<net::Transport>> transport) {
                                         const std::unique_ptr<Opening> done = std::move(opening_);
                                         if (transport) {
                                           Begin(*std::move(transport));
                                         } else {
                                           AskNext(transport.error().Text());
                                         }
                                       });
}

void SentinelWatch::Begin(std::unique_ptr<net::Transport> transport) {
  const auto credentials =
      ReadCredentials(settings_.username, settings_.password_file, settings_.password);
  if (!credentials) {
    transport->Close();
    AskNext(credentials.error().message);
    return;
  }
  connection_ = std::make_shared<Connection>(*this, std::move(transport));
  parser_ = wire::RespReplyParser();
  answered_ = false;
  awaited_ = 0;
  heard_at_ = std::chrono::steady_clock::now();
  if (!credentials->password.empty()) {
    awaited_ = 1;
    if (credentials->username.empty()) {
      connection_->Write({"AUTH", credentials->password});
    } else {
      connection_->Write({"AUTH", credentials->username, credentials->password});
    }
  }
  // In this order: changes after the first answer are in the second.
  connection_->Write({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", settings_.primary});
  connection_->Write({"SUBSCRIBE", "+switch-master"});
  connection_->Flush();
  connection_->Read();
  loop_.ArmAfter(tick_, kTick);
}

void SentinelWatch::OnTick() {
  if (std::chrono::steady_clock::now() - heard_at_ > kSilent) {
    AskNext("it does not answer");
    return;
  }
  connection_->Write({"PING"});
  connection_->Flush();
  loop_.ArmAfter(tick_, kTick);
}

void SentinelWatch::OnInput(std::string_view bytes) {
  heard_at_ = std::chrono::steady_clock::now();
  parser_.Append(bytes);
  while (true) {
    const auto event = parser_.Next();
    if (event == wire::RespReplyParser::Event::kNeedMore) {
      return;
    }
    if (event == wire::RespReplyParser::Event::kError) {
      AskNext(parser_.error());
      return;
    }
    if (!OnReply(parser_.reply())) {
      return;
    }
  }
}

bool SentinelWatch::OnReply(std::span<const wire::RespNode> reply) {
  const wire::RespNode& head = reply[0];
  if (head.type == RespType::kError) {
    AskNext(head.text);
    return false;
  }
  if (awaited_ > 0) {
    --awaited_;
    return true;
  }
  if (!answered_) {
    const bool is_address =
        head.type == RespType::kArray && reply.size() == 3 && IsText(reply[1]) && IsText(reply[2]);
    const auto target = is_address ? TargetOf(reply[1].text, reply[2].text) : std::nullopt;
    if (!target) {
      AskNext(fmt::format("it has no primary named {}", settings_.primary));
      return false;
    }
    answered_ = true;
    in_vain_ = 0;
    on_primary_(*target);
    return connection_ != nullptr;
  }
  if (head.type == RespType::kArray && reply.size() == 4 && reply[1].text == "message") {
    if (const auto target = SwitchedTo(reply[3].text, settings_.primary)) {
      on_primary_(*target);
    }
  }
  return connection_ != nullptr;
}

}  // namespace sluice::redis
