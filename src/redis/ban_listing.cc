#include "redis/ban_listing.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace sluice::redis {

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
