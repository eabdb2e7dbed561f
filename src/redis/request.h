#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/time.h"

#include "redis/command_args.h"
#include "redis/scripts.h"
#include "store/key_store.h"
#include "wire/resp_reply_parser.h"

namespace sluice::redis {

using Reply = std::span<const wire::RespNode>;

// What a reply means to the call that it answers.
struct Outcome {
  enum class Kind : std::uint8_t {
    kAnswered,   // The answer is in the call.
    kAgain,      // Nothing was done: to be asked again, by the server's time in the call's `now`.
    kMalformed,  // No reply of this command.
  };

  [[nodiscard]] static Outcome Answered(store::StoreError error = store::StoreError::kNone) {
    return {.kind = Kind::kAnswered, .error = error};
  }
  [[nodiscard]] static Outcome Malformed(std::string_view fault = "unexpected reply of a script") {
    return {.kind = Kind::kMalformed, .fault = fault};
  }

  Kind kind = Kind::kAnswered;
  store::StoreError error = store::StoreError::kNone;  // kAnswered: of the call.
  std::string_view fault{};                            // kMalformed: for operators.
  std::uint64_t bans = 0;                              // How many keys the denials banned.
};

// A command that takes back a charge.
struct Undo {
  ScriptId script = ScriptId::kRefund;
  std::string bytes{};  // As it goes over the wire. kRefund: complete with AppendReceipt() only.
};

// One call of a store, as Redis is asked it: the call, and the functions that write its command and
// read its reply. Of() pairs them, so the type of a call is known where the call is made and where
// its reply is read, and nowhere in between. Small, and copied as pointers are.
//
// A verb is a struct with `using Call` and static functions:
//
//   std::optional<ScriptId> Append(Call&, const Judged&, std::string& out)
//     Appends the command as it goes over the wire. Returns the script that it runs.
//   Outcome Read(Reply, Call&)
//     Reads a reply that is no error.
//
// and, where it has them:
//
//   std::uint16_t Place(Call&): which slot of a cluster its keys lie in. May drop former ids of the
//     key that lie in another.
//   bool ReadError(std::string_view error, Call&): true if the error is an answer too.
//   void AppendUndos(const Call&, const Judged&, std::vector<Undo>&): what takes back what the call
//     charges, should it do so after its sender got another answer.
//   bool AppendFollower(const Call&, std::int64_t jitter_s, std::string& out): a command to be sent
//     right behind; false: none.
//   const void* Whole(const Call&): which request this is a part of.
class Request {
 public:
  Request() = default;  // No caller waits for it.

  template <class Verb>
  [[nodiscard]] static Request Of(typename Verb::Call& call) {
    Request request;
    request.call_ = &call;
    request.typed_ = &call;
    request.functions_ = &kFunctionsOf<Verb>;
    return request;
  }

  [[nodiscard]] store::StoreCall* call() const { return call_; }

  [[nodiscard]] std::optional<ScriptId> Append(const Judged& judged, std::string& out) const {
    return functions_->append(typed_, judged, out);
  }
  [[nodiscard]] Outcome Read(Reply reply) const { return functions_->read(typed_, reply); }
  [[nodiscard]] std::uint16_t Place() const { return functions_->place(typed_); }
  [[nodiscard]] bool ReadError(std::string_view error) const {
    return functions_->read_error != nullptr && functions_->read_error(typed_, error);
  }
  void AppendUndos(const Judged& judged, std::vector<Undo>& undos) const {
    if (functions_->append_undos != nullptr) {
      functions_->append_undos(typed_, judged, undos);
    }
  }
  [[nodiscard]] bool has_follower() const {
    return functions_ != nullptr && functions_->append_follower != nullptr;
  }
  [[nodiscard]] bool AppendFollower(std::int64_t jitter_s, std::string& out) const {
    return functions_->append_follower(typed_, jitter_s, out);
  }
  // Calls with the same are parts of one request.
  [[nodiscard]] const void* Whole() const {
    return functions_ == nullptr || functions_->whole == nullptr ? call_
                                                                 : functions_->whole(typed_);
  }

 private:
  struct Functions {
    std::optional<ScriptId> (*append)(void* call, const Judged& judged, std::string& out);
    Outcome (*read)(void* call, Reply reply);
    std::uint16_t (*place)(void* call) = nullptr;
    bool (*read_error)(void* call, std::string_view error) = nullptr;
    void (*append_undos)(const void* call, const Judged&, std::vector<Undo>& undos) = nullptr;
    bool (*append_follower)(const void* call, std::int64_t jitter_s, std::string& out) = nullptr;
    const void* (*whole)(const void* call) = nullptr;
  };

  template <class Verb>
  [[nodiscard]] static constexpr Functions MakeFunctions() {
    using Call = typename Verb::Call;
    Functions functions{
        .append =
            [](void* call, const Judged& judged, std::string& out) {
              return Verb::Append(*static_cast<Call*>(call), judged, out);
            },
        .read = [](void* call,
                   Reply reply) { return Verb::Read(reply, *static_cast<Call*>(call)); }};
    if constexpr (requires { &Verb::Place; }) {
      functions.place = [](void* call) { return Verb::Place(*static_cast<Call*>(call)); };
    }
    if constexpr (requires { &Verb::ReadError; }) {
      functions.read_error = [](void* call, std::string_view error) {
        return Verb::ReadError(error, *static_cast<Call*>(call));
      };
    }
    if constexpr (requires { &Verb::AppendUndos; }) {
      functions.append_undos = [](const void* call, const Judged& judged,
                                  std::vector<Undo>& undos) {
        Verb::AppendUndos(*static_cast<const Call*>(call), judged, undos);
      };
    }
    if constexpr (requires { &Verb::AppendFollower; }) {
      functions.append_follower = [](const void* call, std::int64_t jitter_s, std::string& out) {
        return Verb::AppendFollower(*static_cast<const Call*>(call), jitter_s, out);
      };
    }
    if constexpr (requires { &Verb::Whole; }) {
      functions.whole = [](const void* call) {
        return Verb::Whole(*static_cast<const Call*>(call));
      };
    }
    return functions;
  }
  template <class Verb>
  static constexpr Functions kFunctionsOf = MakeFunctions<Verb>();

  store::StoreCall* call_ = nullptr;
  void* typed_ = nullptr;  // The same, as what it was given.
  const Functions* functions_ = nullptr;
};

// What most replies of scripts begin with, or consist of.

// An array of integers, and at least one.
[[nodiscard]] bool AreIntegers(Reply reply);
// A time of the server, in microseconds since 1970.
[[nodiscard]] bool IsTime(const wire::RespNode& node);
[[nodiscard]] WallInstant InstantOf(const wire::RespNode& node);
// The first number of a script's reply: the server's time. False if there is none.
[[nodiscard]] bool ReadTime(Reply reply, WallInstant& now);

inline constexpr std::int64_t kLongestUs = std::int64_t{1} << 52U;  // What scripts cut waits to.

}  // namespace sluice::redis
