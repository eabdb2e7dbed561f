#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "sluice/time.h"

#include "base/clock.h"
#include "base/random.h"
#include "redis/opening.h"
#include "redis/pipeline.h"
#include "redis/redis_metrics.h"
#include "redis/request.h"
#include "redis/scripts.h"
#include "store/key_store.h"

namespace sluice::redis {

struct ChannelSettings {
  Duration deadline = std::chrono::milliseconds(10);  // Of a call; its own may be earlier.
  std::size_t most_in_flight = 4096;                  // Sent and not answered.
  std::size_t most_waiting = 4096;                    // For a connection.
  // This many calls in a row without an answer in time open the breaker: then nothing is asked
  // until a PING is answered, the first of which is sent after `cool_down`.
  int breaker_failures = 5;
  Duration cool_down = std::chrono::milliseconds(200);
  Duration probe_timeout = std::chrono::seconds(1);  // Then the connection is given up.
  // Between attempts to connect, doubled each time. All pauses are drawn from half of theirs up.
  Duration first_pause = std::chrono::milliseconds(50);
  Duration longest_pause = std::chrono::milliseconds(500);
  int database = 0;
  // A counter lives up to this much longer than its window; the time is drawn for each hit.
  std::int64_t expiry_jitter_s = 300;
  // Says nothing but what calls need: no name.
  bool terse = false;
  RedisServer server = RedisServer::kMain;  // For metrics.
  // Judge by the node's clock, and let keys live for ever: for playing histories.
  bool by_given_clock = false;
};

class Redirector;

// All that is between one loop and one Redis server, but the bytes' way there: the connection's
// greeting, which scripts it has, what errors mean, when to connect again, when to leave Redis
// alone. The order of commands is the Pipeline's, what a command and its reply say its Request's.
// No I/O, and time is an argument, so tests and simulations run it unchanged.
//
// A call that is out of time is answered kUnavailable; its reply still comes, and what it says was
// charged is sent back. Only what provably did not run is sent again: what was not yet written, and
// what Redis refused with NOSCRIPT, READONLY, LOADING or MASTERDOWN. One thread. Verbs may be
// called while an answer is being given.
class Channel {
 public:
  using Time = Command::Time;

  // What an operator should know; `good`: that it is over.
  using OnEvent = std::function<void(bool good, const std::string& text)>;

  Channel(const ChannelSettings& settings, const base::Clock& clock, RedisMetrics& metrics,
          OnEvent on_event, std::uint64_t seed);
  // Answers every call that is left.
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Its deadline is the call's own or the settings', whichever is first. `within`: the caller can
  // wait this long, if that is longer than the settings allow.
  void Send(const Request& request, Time now, Duration within = {});
  // Any request or undo, with its deadline set.
  void Send(Command command, Time now);
  // Answers a command that was not sent.
  void Refuse(const Command& command) {
    Answer(command, Time(), store::StoreError::kDidNotRun, RedisCount::kRefused);
  }
  // Answers all that is under way; nothing is sent from here on but to go.
  void AnswerEverything();
  // The command that takes back what `part`, a call with a request id, charged or may have.
  [[nodiscard]] Command CommandToUndo(const store::CheckCall& part) const;

  // Of a cluster: knows where redirected calls go. It outlives the channel.
  void SetRedirector(Redirector& redirector) { redirector_ = &redirector; }
  // Asks the server for the cluster's slots; the answer goes to the redirector.
  void AskTopology();

  // Another server is the one to ask: what is under way is still read, then the connection is left.
  void Leave(std::string_view why, Time now);
  // There is news that make a connection likely: does not wait for the next attempt.
  void DialSoon(Time now);

  // A fault that simulations must find: what may have run is sent again.
  void ResendLostForTest() { resend_lost_ = true; }

  // Keeps an entry of this name among those of all nodes, while connected, and `nodes` at how many
  // there are; the last count stays while Redis is unreachable, and until a smaller one has been
  // reported twice. Before the first connection.
  void Join(std::string member, std::atomic<int>& nodes) {
    member_ = std::move(member);
    nodes_ = &nodes;
  }

  // From here on: for the code that transfers the bytes.

  // Whether a connection is wanted now; then OnDialing(), and OnConnected() or OnLost().
  [[nodiscard]] bool WantsDial(Time now) const {
    return state_ == State::kDown && now >= redial_at_;
  }
  void OnDialing() { state_ = State::kDialing; }
  void OnConnected(const Credentials& credentials, Time now);
  // The connection ended, or there was none to be had.
  void OnLost(std::string_view why, Time now);
  // Whether the connection is to be closed, and why; then OnLost().
  [[nodiscard]] bool WantsClose() const { return !close_why_.empty(); }
  [[nodiscard]] const std::string& close_why() const { return close_why_; }

  void OnInput(std::string_view bytes, Time now);
  [[nodiscard]] bool HasOutput() { return !pipeline_.output().empty(); }
  // Swaps what is to be sent into `out`, which is emptied first. It counts as sent.
  void TakeOutput(std::string& out) { pipeline_.TakeOutput(out); }

  // When OnWake() is due; max() where nothing is.
  [[nodiscard]] Time NextWake() const;
  void OnWake(Time now);

  [[nodiscard]] bool up() const { return state_ == State::kUp; }
  [[nodiscard]] bool breaker_open() const { return open_; }
  // The last call had no answer in time.
  [[nodiscard]] bool silent() const { return failures_ > 0; }
  // Nothing is under way.
  [[nodiscard]] bool idle() const { return pipeline_.in_flight() == 0 && pipeline_.waiting() == 0; }

 private:
  enum class State : std::uint8_t {
    kDown,
    kDialing,
    kGreeting,
    kUp,
    kLeaving,  // The server is not the one to ask: its replies are read, then it is left.
  };
  // For an answer to the greeting, and for the replies of a server that is left.
  static constexpr Duration kGreetingTimeout = std::chrono::seconds(1);
  // How often a node reports itself, and when it counts as gone.
  static constexpr Duration kMemberEvery = std::chrono::seconds(5);
  static constexpr std::chrono::seconds kMemberGone{15};
  static constexpr Duration kReportErrorsEvery = std::chrono::seconds(10);

  void Write(Command command);
  void WriteOwn(Command::OnReply on_reply, std::initializer_list<std::string_view> args);
  void WriteFollower(const Request& request, bool asking);
  void EnsureLoaded(ScriptId script);
  void WriteMember(Time now);
  void AskTime(Time now);
  [[nodiscard]] Judged JudgedNow(const Command& command) const;

  // channel_replies.cc: what replies mean. One of these for each command.
  void OnAuthenticated(Command& command, Reply reply, Time now);
  void OnSelected(Command& command, Reply reply, Time now);
  void OnGreeted(Command& command, Reply reply, Time now);
  void OnProbed(Command& command, Reply reply, Time now);
  void OnLoaded(Command& command, Reply reply, Time now);
  void OnNodesCounted(Command& command, Reply reply, Time now);
  void OnTimeTold(Command& command, Reply reply, Time now);
  void OnSlotsTold(Command& command, Reply reply, Time now);
  void OnFollowed(Command& command, Reply reply, Time now);
  void OnUndone(Command& command, Reply reply, Time now);
  void OnRequestReply(Command& command, Reply reply, Time now);
  void OnIgnored(Command& /*command*/, Reply /*reply*/, Time /*now*/) {}

  void OnError(Command& command, std::string_view text, Time now);
  [[nodiscard]] bool SendElsewhere(Command& command, std::string_view text, Time now);
  void SendBack(Command& command, Reply reply, Time now);
  void BecomeUp(Time now);

  void ExpireCalls(Time now);
  void CountFailure(Time now);
  void CloseBreaker();
  // `now`: the time, or Time() where how long it took says nothing.
  void Answer(const Command& command, Time now, store::StoreError error, RedisCount count);
  [[nodiscard]] Duration Jittered(Duration pause);
  void ReportError(std::string_view text, Time now);

  const ChannelSettings settings_;
  const base::Clock& clock_;
  RedisMetrics& metrics_;
  const OnEvent on_event_;
  base::Random random_;

  State state_ = State::kDown;
  Pipeline pipeline_;
  std::string written_;                      // Room for one command: its script goes before it.
  std::array<bool, kScriptCount> loaded_{};  // On this connection, as far as is known.
  std::array<int, kScriptCount> loads_in_flight_{};
  std::string close_why_;

  int failures_ = 0;  // In a row.
  bool open_ = false;
  bool probing_ = false;
  bool was_lost_ = true;      // Said so; say when it is over.
  std::string reported_why_;  // What was said last.
  int failed_dials_ = 0;      // Connections in a row that answered no call.
  Time redial_at_ = Time::min();
  Time probe_at_ = Time::max();  // When to send one, or to give up waiting for it.
  Time greeted_by_ = Time::max();
  Time report_errors_at_ = Time::min();
  std::string member_;  // "": it joins no fleet.
  std::atomic<int>* nodes_ = nullptr;
  bool fewer_reported_ = false;  // Than nodes_, by the last count on this connection.
  Redirector* redirector_ = nullptr;
  bool topology_asked_ = false;
  bool resend_lost_ = false;
  Time member_at_ = Time::max();
  Time time_asked_at_{};
};

// Knows the other servers of a cluster. Called while a channel handles input or its end.
class Redirector {
 public:
  virtual ~Redirector() = default;
  // The server sent the command away without running it, with this error: MOVED, ASK, TRYAGAIN or
  // CLUSTERDOWN. True: it has been taken over.
  virtual bool OnSentAway(Channel& from, Command& command, std::string_view error,
                          Channel::Time now) = 0;
  // The reply to CLUSTER SLOTS.
  virtual void OnTopology(Channel& from, Reply reply, Channel::Time now) = 0;
  // The channel came up or went down, or left calls without an answer.
  virtual void OnState(Channel& from, Channel::Time now) = 0;
};

}  // namespace sluice::redis
