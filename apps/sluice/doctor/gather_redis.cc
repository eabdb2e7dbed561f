#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "doctor/gather.h"
#include "net/event_loop.h"
#include "redis/opening.h"
#include "wire/resp_reply_parser.h"
#include "wire/resp_writer.h"

namespace sluice::app::doctor {

namespace {

constexpr std::chrono::milliseconds kPatienceWithRedis{3000};

WallInstant SystemNow() {
  return WallInstant(
      std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()));
}

// Sends a few commands over one connection and keeps the texts of the replies.
class RedisTalk final : public net::TransportUser, public std::enable_shared_from_this<RedisTalk> {
 public:
  struct Said {
    std::string text;  // Of all values, a line each; of an error behind "-".
    WallInstant at{};  // When it came.
  };

  RedisTalk(std::unique_ptr<net::Transport> transport, std::string commands, std::size_t replies)
      : transport_(std::move(transport)), commands_(std::move(commands)), awaited_(replies) {}

  void Begin() {
    transport_->Write(commands_, shared_from_this());
    transport_->Read(input_, shared_from_this());
  }
  void End() { transport_->Close(); }
  [[nodiscard]] bool done() const { return said_.size() == awaited_ || !failure_.empty(); }
  [[nodiscard]] const std::string& failure() const { return failure_; }
  [[nodiscard]] const std::vector<Said>& said() const { return said_; }

  void OnRead(const boost::system::error_code& error, std::size_t size) noexcept override {
    if (error) {
      failure_ = failure_.empty() ? error.message() : failure_;
      return;
    }
    parser_.Append({input_.data(), size});
    auto event = wire::RespReplyParser::Event::kReply;
    while ((event = parser_.Next()) == wire::RespReplyParser::Event::kReply) {
      Keep(parser_.reply());
    }
    if (event == wire::RespReplyParser::Event::kError) {
      failure_ = "it is no Redis: " + std::string(parser_.error());
    } else if (!done()) {
      transport_->Read(input_, shared_from_this());
    }
  }
  void OnWritten(const boost::system::error_code& error) noexcept override {
    failure_ = error ? error.message() : failure_;
  }

 private:
  void Keep(std::span<const wire::RespNode> reply) {
    Said said{.text = {}, .at = SystemNow()};
    for (const wire::RespNode& node : reply) {
      if (node.type == wire::RespType::kArray) {
        continue;
      }
      said.text += node.type == wire::RespType::kError ? "-" : "";
      said.text += node.type == wire::RespType::kInteger ? std::to_string(node.integer)
                                                         : std::string(node.text);
      said.text += '\n';
    }
    said_.push_back(std::move(said));
  }

  std::unique_ptr<net::Transport> transport_;
  const std::string commands_;
  const std::size_t awaited_;
  wire::RespReplyParser parser_;
  std::array<char, 4096> input_{};
  std::vector<Said> said_;
  std::string failure_;
};

// "name:value" lines.
void ReadInfo(std::string_view text, RedisFacts& facts) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    line.remove_suffix(line.ends_with('\r') ? 1 : 0);
    if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
      facts.info.emplace(line.substr(0, colon), line.substr(colon + 1));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// TIME's seconds and microseconds, against the middle of the round trip.
void ReadTime(std::string_view text, WallInstant sent, WallInstant came, RedisFacts& facts) {
  const std::string copy(text);
  char* end = nullptr;
  const long long seconds = std::strtoll(copy.c_str(), &end, 10);
  const long long micros = std::strtoll(end, nullptr, 10);
  if (seconds > 0) {
    facts.clock_offset =
        WallInstant(std::chrono::seconds(seconds) + std::chrono::microseconds(micros)) -
        (sent + (came - sent) / 2);
    facts.round_trip = came - sent;
  }
}

void Append(std::string& out, std::initializer_list<std::string_view> words) {
  wire::AppendRespCommand(std::span(words.begin(), words.size()), out);
}

// A loop that runs until `done`, or for kPatienceWithRedis.
template <class Done>
void RunUntil(net::EventLoop& loop, Done done) {
  bool late = false;
  net::Timer end([&late] { late = true; });
  loop.ArmAfter(end, kPatienceWithRedis, net::TimerPrecision::kExact);
  while (!done() && !late) {
    (void)loop.RunOne();
  }
}

}  // namespace

RedisFacts AskRedis(const RedisConfig& config, const net::DialTarget& target) {
  RedisFacts facts{.server = target.Text()};
  const auto credentials =
      redis::ReadCredentials(config.username, config.password_file, config.password);
  if (!credentials) {
    facts.failure = credentials.error().Text();
    return facts;
  }
  redis::OpeningSettings settings{.timeout = config.dial_timeout};
  if (config.tls) {
    settings.tls = [&config] { return LoadClientTls(*config.tls); };
    settings.tls_name = config.tls->server_name;
  }
  net::EventLoop loop;
  std::optional<Result<std::unique_ptr<net::Transport>>> opened;
  const redis::Opening opening(loop, settings, target,
                               [&opened](auto transport) { opened = std::move(transport); });
  RunUntil(loop, [&opened] { return opened.has_value(); });
  if (!opened || !*opened) {
    facts.failure = opened ? opened->error().message : "no connection in time";
    return facts;
  }
  std::string commands;
  const bool asks = !credentials->password.empty();
  if (asks) {
    const std::string_view name =
        credentials->username.empty() ? std::string_view("default") : credentials->username;
    Append(commands, {"AUTH", name, credentials->password});
  }
  Append(commands, {"TIME"});
  Append(commands, {"INFO"});
  const std::size_t first = asks ? 1 : 0;
  const auto talk =
      std::make_shared<RedisTalk>(*std::move(*opened), std::move(commands), first + 2);
  const WallInstant sent = SystemNow();
  talk->Begin();
  RunUntil(loop, [&talk] { return talk->done(); });
  talk->End();
  (void)loop.Poll();
  if (!talk->failure().empty() || talk->said().size() < first + 2) {
    facts.failure = talk->failure().empty() ? "no answer in time" : talk->failure();
    return facts;
  }
  for (const RedisTalk::Said& said : talk->said()) {
    if (said.text.starts_with('-') && facts.failure.empty()) {
      facts.failure = said.text.substr(1, said.text.find('\n') - 1);
    }
  }
  ReadTime(talk->said()[first].text, sent, talk->said()[first].at, facts);
  ReadInfo(talk->said()[first + 1].text, facts);
  return facts;
}

}  // namespace sluice::app::doctor
