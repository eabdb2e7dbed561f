#include "sources/etcd_rules.h"

#include <algorithm>
#include <utility>

#include "net/event_loop.h"
#include "sources/etcd_messages.h"

namespace sluice::sources {

namespace {

// Of one message of a watch: more than etcd lets anybody write at once.
constexpr std::size_t kMaxMessage = 16UL * 1024 * 1024;
constexpr int kOk = 200;

void Drop(std::shared_ptr<net::HttpStream>& stream) {
  if (stream != nullptr) {
    std::exchange(stream, nullptr)->Cancel();
  }
}

}  // namespace

EtcdRules::EtcdRules(net::EventLoop& loop, EtcdSettings settings, EtcdSnapshot last, Events events)
    : loop_(loop),
      settings_(std::move(settings)),
      gateway_(loop, settings_),
      events_(std::move(events)),
      snapshot_(std::move(last)),
      pause_(settings_.shortest_pause),
      retry_([this] { BeginSession(); }),
      audit_due_([this] { BeginAudit(); }),
      settled_([this] { Tell(); }) {}

EtcdRules::~EtcdRules() {
  Drop(asking_);
  Drop(watch_);
  Drop(audit_);
  for (auto& [key, write] : writes_) {
    Drop(write->stream);
  }
}

void EtcdRules::Start() {
  BeginSession();
}

void EtcdRules::BeginSession() {
  gateway_.LogIn(endpoint_, asking_, [this](EtcdGateway::Reply token) {
    if (!token) {
      EndSession(token.error().message);
      return;
    }
    token_ = *std::move(token);
    asking_ = gateway_.Ask(
        gateway_.CallTo(endpoint_, "/v3/kv/range", etcd::RangeRequest(settings_.prefix), token_),
        [this](EtcdGateway::Reply reply) { OnRange(std::move(reply)); });
  });
}

void EtcdRules::OnRange(EtcdGateway::Reply reply) {
  asking_ = nullptr;
  if (!reply) {
    EndSession(reply.error().message);
    return;
  }
  auto range = etcd::ReadRange(*reply);
  if (!range || range->revision <= 0) {
    EndSession(settings_.endpoints[endpoint_].Text() + ": " +
               (range ? "unexpected answer from etcd" : range.error().message));
    return;
  }
  const bool earlier = range->cluster != snapshot_.cluster || range->revision < snapshot_.revision;
  pause_ = settings_.shortest_pause;
  session_cluster_ = range->cluster;
  if (earlier && range->keys.empty() && !snapshot_.documents.empty()) {
    BeginWatch(range->revision + 1);
    SetState(State::kLost, "etcd returned at an earlier revision without rules under " +
                               settings_.prefix + ": the previous rules stay active");
    answered_ = true;
    return;
  }
  EtcdDocuments documents;
  for (etcd::KeyValue& item : range->keys) {
    if (item.key.starts_with(settings_.prefix)) {
      documents.insert_or_assign(
          item.key.substr(settings_.prefix.size()),
          EtcdDocument{.text = std::move(item.value), .mod_revision = item.mod_revision});
    }
  }
  const bool same = std::equal(documents.begin(), documents.end(), snapshot_.documents.begin(),
                               snapshot_.documents.end(), [](const auto& a, const auto& b) {
                                 return a.first == b.first && a.second.text == b.second.text;
                               });
  const bool first = !std::exchange(answered_, true);
  snapshot_ = {.cluster = std::move(range->cluster),
               .revision = range->revision,
               .documents = std::move(documents)};
  BeginWatch(snapshot_.revision + 1);
  SetState(State::kFollowing, settings_.endpoints[endpoint_].Text());
  if (!same || first) {
    Tell();
  }
}

void EtcdRules::BeginWatch(std::int64_t from) {
  line_.clear();
  auto call =
      gateway_.CallTo(endpoint_, "/v3/watch", etcd::WatchRequest(settings_.prefix, from), token_);
  call.answer_timeout = {};
  watch_ = net::HttpStream::Begin(
      loop_, std::move(call),
      [this](int status, std::string_view piece) { OnWatchPiece(status, piece); },
      [this](tl::expected<int, net::HttpStream::Failure> status) {
        watch_ = nullptr;
        EndSession(!status          ? status.error().message
                   : *status == kOk ? "the watch has ended"
                                    : "the watch was refused: " + etcd::ReasonOf(line_));
      });
  loop_.ArmAfter(audit_due_, settings_.audit_interval);
}

void EtcdRules::OnWatchPiece(int status, std::string_view piece) {
  if (line_.size() + piece.size() > kMaxMessage) {
    EndSession("a message of the watch is too long");
    return;
  }
  line_ += piece;
  if (status != kOk) {
    return;  // Why it was refused.
  }
  const std::string lines = std::exchange(line_, {});
  std::size_t begin = 0;
  for (std::size_t end = lines.find('\n'); end != std::string::npos;
       end = lines.find('\n', begin)) {
    if (end > begin && !OnWatchLine(std::string_view(lines).substr(begin, end - begin))) {
      return;
    }
    begin = end + 1;
  }
  line_ = lines.substr(begin);
}

bool EtcdRules::OnWatchLine(std::string_view line) {
  auto message = etcd::ReadWatchMessage(line);
  if (!message) {
    EndSession(message.error().message);
    return false;
  }
  if (message->canceled) {
    EndSession(message->compact_revision > 0 ? "the watched revision was compacted"
                                             : "etcd has ended the watch: " + message->reason);
    return false;
  }
  if (message->events.empty()) {
    return true;  // That it began, or goes on.
  }
  FollowAfterLoss();
  for (etcd::Event& event : message->events) {
    if (!event.of.key.starts_with(settings_.prefix)) {
      continue;
    }
    const std::string id = event.of.key.substr(settings_.prefix.size());
    const auto found = snapshot_.documents.find(id);
    if (found != snapshot_.documents.end() && found->second.mod_revision >= event.of.mod_revision) {
      continue;  // Written through this node, and here already.
    }
    if (event.deleted) {
      snapshot_.documents.erase(id);
    } else {
      snapshot_.documents.insert_or_assign(id, EtcdDocument{.text = std::move(event.of.value),
                                                            .mod_revision = event.of.mod_revision});
    }
    if (!settling_) {
      settling_ = true;
      loop_.ArmAfter(settled_, settings_.settle, net::TimerPrecision::kExact);
    }
  }
  snapshot_.revision = std::max(snapshot_.revision, message->revision);
  return true;
}

// It holds rules again: from here on they count, and not those of before.
void EtcdRules::FollowAfterLoss() {
  if (state_ == State::kLost) {
    snapshot_ = {.cluster = session_cluster_, .revision = 0, .documents = {}};
    SetState(State::kFollowing, settings_.endpoints[endpoint_].Text());
  }
}

void EtcdRules::BeginAudit() {
  audit_ = gateway_.Ask(
      gateway_.CallTo(endpoint_, "/v3/kv/range", etcd::NewestRequest(settings_.prefix), token_),
      [this](EtcdGateway::Reply reply) { OnAudit(std::move(reply)); });
}

void EtcdRules::OnAudit(EtcdGateway::Reply reply) {
  audit_ = nullptr;
  if (!reply) {
    EndSession(reply.error().message);
    return;
  }
  const auto range = etcd::ReadRange(*reply);
  if (!range) {
    EndSession(range.error().message);
    return;
  }
  std::int64_t newest = 0;
  std::int64_t count = 0;
  if (state_ == State::kFollowing) {
    count = static_cast<std::int64_t>(snapshot_.documents.size());
    for (const auto& [id, document] : snapshot_.documents) {
      newest = std::max(newest, document.mod_revision);
    }
  }
  const std::int64_t there = range->keys.empty() ? 0 : range->keys.front().mod_revision;
  if (there != newest || range->count != count) {
    EndSession("the watch has missed a change");
    return;
  }
  loop_.ArmAfter(audit_due_, settings_.audit_interval);
}

void EtcdRules::EndSession(std::string_view why) {
  SetState(State::kAway, why);
  Drop(asking_);
  Drop(watch_);
  Drop(audit_);
  audit_due_.Cancel();
  endpoint_ = (endpoint_ + 1) % settings_.endpoints.size();
  loop_.ArmAfter(retry_, pause_, net::TimerPrecision::kExact);
  pause_ = std::min(pause_ * 2, settings_.longest_pause);
}

// An outage has a few reasons (an endpoint is down, another is slow): each is reported once.
void EtcdRules::SetState(State state, std::string_view why) {
  constexpr std::size_t kMostReasons = 16;
  if (state_ != state) {
    state_ = state;
    logged_.clear();
  }
  if (logged_.size() < kMostReasons && logged_.emplace(why).second) {
    events_.on_state(state, why);
  }
}

void EtcdRules::CatchUp() {
  if (settling_) {
    Tell();
  }
}

void EtcdRules::Tell() {
  settling_ = false;
  settled_.Cancel();
  events_.on_documents();
}

}  // namespace sluice::sources
