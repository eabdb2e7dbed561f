#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "net/dial.h"
#include "redis/request.h"
#include "store/key_store.h"

namespace sluice::redis {

// One question of many, all of which together list the bans that a server has.
struct BanPage : store::StoreCall {
  // It looks through many keys, for a caller that can wait.
  static constexpr Duration kWithin = std::chrono::seconds(1);

  // In.
  net::DialTarget server;   // Of a cluster: whom to ask.
  std::string begin = "0";  // Where the page begins; out: where the next one does, or "0".
  // Out. With the names of their keys, as one may come twice.
  std::vector<std::pair<std::string, store::BannedKey>> bans;
};

struct BanPageVerb {
  using Call = BanPage;
  static std::optional<ScriptId> Append(Call& page, const Judged& judged, std::string& out);
  // Appends to the page's bans and moves it on to the next.
  static Outcome Read(Reply reply, Call& page);
};

// Lists all bans of one server or of a cluster's: page by page, each server for itself and all at
// once. It owns itself and deletes itself when the call is answered: with all bans, or with the
// error of a server that did not answer. One thread.
class BanListing {
 public:
  // Sends a page to the server that it names. It outlives the listing or answers its pages.
  class Sender {
   public:
    virtual ~Sender() = default;
    virtual void SendPage(BanPage& page) = 0;
  };

  static void Begin(store::BansCall& call, Sender& sender,
                    const std::vector<net::DialTarget>& servers);

 private:
  class Page final : public BanPage {
   public:
    void OnAnswered() noexcept override { whole->OnPage(*this); }
    BanListing* whole = nullptr;
  };

  BanListing(store::BansCall& call, Sender& sender) : call_(call), sender_(sender) {}
  void OnPage(Page& page);
  void Close();

  std::unique_ptr<BanListing> self_;  // Until the call is answered.
  store::BansCall& call_;
  Sender& sender_;
  std::vector<std::unique_ptr<Page>> pages_;
  std::size_t open_ = 0;
  store::StoreError error_ = store::StoreError::kNone;
  std::unordered_map<std::string, store::BannedKey> bans_;  // By the name of the ban's key.
};

}  // namespace sluice::redis
