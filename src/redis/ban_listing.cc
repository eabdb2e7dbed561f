#include "redis/ban_listing.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "redis/key_name.h"

namespace sluice::redis {

std::optional<ScriptId> BanPageVerb::Append(Call& page, const Judged& judged, std::string& out) {
  CommandArgs args(out, 3 + 2);
  args.BeginScript(ScriptId::kBanList, 0);
  args.PutTime(judged);
  args.Put(page.begin);
  return ScriptId::kBanList;
}

Outcome BanPageVerb::Read(Reply reply, Call& page) {
  using wire::RespType;
  constexpr std::size_t kNodesPerBan = 4;
  if (reply.size() < 3 || reply[0].type != RespType::kArray || reply.size() != reply[0].size + 1 ||
      (reply.size() - 3) % kNodesPerBan != 0 || !IsTime(reply[1]) ||
      reply[2].type != RespType::kBulk || reply[2].text.empty()) {
    return Outcome::Malformed();
  }
  page.now = InstantOf(reply[1]);
  for (Reply rest = reply.subspan(3); !rest.empty(); rest = rest.subspan(kNodesPerBan)) {
    if (rest[0].type != RespType::kBulk || !IsTime(rest[1]) || !IsTime(rest[2]) ||
        rest[3].type != RespType::kBulk) {
      return Outcome::Malformed();
    }
    if (auto key = ReadBanKeyName(rest[0].text, rest[3].text)) {
      page.bans.emplace_back(rest[0].text, store::BannedKey{.key = *std::move(key),
                                                            .since = InstantOf(rest[2]),
                                                            .until = InstantOf(rest[1])});
    }
  }
  page.begin = reply[2].text;
  return Outcome::Answered();
}

void BanListing::Begin(store::BansCall& call, Sender& sender,
                       const std::vector<net::DialTarget>& servers) {
  auto* const listing = new BanListing(call, sender);
  listing->self_.reset(listing);
  call.bans.clear();
  call.now = {};
  listing->open_ = servers.size() + 1;
  for (const net::DialTarget& server : servers) {
    listing->pages_.push_back(std::make_unique<Page>());
    listing->pages_.back()->whole = listing;
    listing->pages_.back()->server = server;
  }
  for (const auto& page : listing->pages_) {
    sender.SendPage(*page);
  }
  listing->Close();
}

void BanListing::OnPage(Page& page) {
  if (page.error == store::StoreError::kNone) {
    for (auto& [name, ban] : std::exchange(page.bans, {})) {
      bans_.insert_or_assign(name, std::move(ban));
    }
    call_.now = std::max(call_.now, page.now);
    if (page.begin != "0" && error_ == store::StoreError::kNone) {
      sender_.SendPage(page);
      return;
    }
  } else {
    error_ = page.error;
  }
  Close();
}

void BanListing::Close() {
  if (--open_ > 0) {
    return;
  }
  const std::unique_ptr<BanListing> self = std::move(self_);
  store::BansCall& call = call_;
  call.error = error_;
  for (auto& [name, ban] : bans_) {
    if (error_ == store::StoreError::kNone && ban.until > call.now) {
      call.bans.push_back(std::move(ban));
    }
  }
  call.OnAnswered();
}

}  // namespace sluice::redis
