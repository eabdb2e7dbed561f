#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/result.h"
#include "sluice/time.h"

#include "net/http_stream.h"
#include "net/timer_wheel.h"
#include "sources/etcd_gateway.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::sources {

// What etcd holds under a prefix, by what follows it: rule ids, if all is as it should be.
struct EtcdDocument {
  std::string text;
  std::int64_t mod_revision = 0;
};
using EtcdDocuments = std::map<std::string, EtcdDocument, std::less<>>;

// That, and which state of which cluster it is of.
struct EtcdSnapshot {
  std::string cluster;
  std::int64_t revision = 0;  // 0: etcd has never been seen.
  EtcdDocuments documents;
};

// Follows the rules that an etcd cluster holds, and writes them there.
//
// It reads all of them, then watches from the next revision on. After any failure (cluster
// unreachable, watch lost or compacted, cluster restored from a backup), it starts again by reading
// everything, at another endpoint; meanwhile what was read last stands. A watch that has died
// without a word, as behind a firewall that forgot it, is found by an audit: now and then it asks
// which key is the newest and how many there are.
//
// A cluster that has lost its data holds no rules, and must not lift every limit: where it is back
// at an earlier revision and the prefix is empty, what was read last stands until a rule is written
// there.
//
// One thread, the loop's.
class EtcdRules {
 public:
  enum class State : std::uint8_t {
    kFollowing,  // All was read, and the watch goes on from there.
    kAway,       // No endpoint answers as it should.
    kLost,       // It follows a cluster that has lost its rules: those of before stand.
  };
  struct Events {
    std::function<void()> on_documents;  // documents() are others than before.
    std::function<void(State, std::string_view why)> on_state;  // Changes, and new reasons.
  };

  // `last` is what was read before the last restart. `loop` outlives it.
  EtcdRules(net::EventLoop& loop, EtcdSettings settings, EtcdSnapshot last, Events events);
  ~EtcdRules();
  EtcdRules(const EtcdRules&) = delete;
  EtcdRules& operator=(const EtcdRules&) = delete;

  void Start();

  [[nodiscard]] const EtcdSnapshot& snapshot() const { return snapshot_; }
  [[nodiscard]] const EtcdDocuments& documents() const { return snapshot_.documents; }
  [[nodiscard]] State state() const { return state_; }
  // Has on_documents called now, if it is about to be. What documents() say and what was made of
  // them are then the same.
  void CatchUp();
  // Whether etcd has said yet what it holds.
  [[nodiscard]] bool answered() const { return answered_; }

  struct WriteFailure {
    enum class Kind : std::uint8_t {
      kChanged,  // Somebody else has written this rule since documents() were read.
      kRefused,  // It was not written.
      kUnknown,  // It may have been written: no answer came.
    };
    Kind kind;
    std::string why;
  };
  using OnWritten = std::function<void(tl::expected<void, WriteFailure>)>;
  // Writes (erases) rule `id`, if it is still as documents() have it. Where that succeeds,
  // documents() have it before `on_written` is called, and on_documents was called if they are
  // others for it. It is called once, during this or later; no callback runs once this is
  // destroyed.
  void Put(const std::string& id, const std::string& text, OnWritten on_written);
  void Erase(const std::string& id, OnWritten on_written);

 private:
  struct Write {
    std::string id;
    std::optional<std::string> text;  // None: it is to be erased.
    std::string body;
    OnWritten on_written;
    std::size_t endpoint = 0;
    std::size_t attempts_left = 0;
    std::shared_ptr<net::HttpStream> stream;
  };

  void BeginSession();
  void OnRange(EtcdGateway::Reply reply);
  void BeginWatch(std::int64_t from);
  void OnWatchPiece(int status, std::string_view piece);
  // False: the session is over.
  bool OnWatchLine(std::string_view line);
  void FollowAfterLoss();
  void BeginAudit();
  void OnAudit(EtcdGateway::Reply reply);
  void EndSession(std::string_view why);
  void SetState(State state, std::string_view why);
  void Tell();

  [[nodiscard]] std::int64_t RevisionOf(const std::string& id) const;
  void BeginWrite(std::unique_ptr<Write> write);
  void SendWrite(Write& write);
  void OnWriteReply(Write& write, EtcdGateway::Reply reply);
  void EndWrite(Write& write, tl::expected<void, WriteFailure> result);

  net::EventLoop& loop_;
  const EtcdSettings settings_;
  const EtcdGateway gateway_;
  const Events events_;
  EtcdSnapshot snapshot_;
  State state_ = State::kAway;
  std::set<std::string, std::less<>> logged_;  // Why it is in this state.
  bool answered_ = false;

  std::size_t endpoint_ = 0;
  std::string token_;
  std::string session_cluster_;  // The id of the cluster that answers.
  std::string line_;             // Of the watch, not whole yet.
  Duration pause_;
  std::shared_ptr<net::HttpStream> asking_;  // The login and the reading of all.
  std::shared_ptr<net::HttpStream> watch_;
  std::shared_ptr<net::HttpStream> audit_;
  net::Timer retry_;
  net::Timer audit_due_;
  net::Timer settled_;
  bool settling_ = false;
  std::map<const Write*, std::unique_ptr<Write>> writes_;
};

}  // namespace sluice::sources
