#include "store/ban_slot.h"

#include <algorithm>
#include <bit>
#include <string_view>

#include "core/key_codec.h"
#include "store/journal.h"

namespace sluice::store {

namespace {

// Writes the text of the banned key and returns its size. Allocates nothing.
std::string_view TextOf(core::KeyView key, BanText& room) {
  if (core::KeyBytes(core::KeyForm::kWhole, key) > room.size()) {
    key.parts = {};
  }
  const std::size_t size = core::KeyBytes(core::KeyForm::kWhole, key);
  if (size > room.size()) {
    return {};
  }
  core::WriteKey(core::KeyForm::kWhole, key, room.data());
  return {room.data(), size};
}

// Writes the text into blocks that are not linked yet; none if there is no room for all of it.
ListState TextBlocks(TableCore& core, std::uint32_t owner, std::string_view text) {
  ListState list;
  for (std::size_t at = 0; at < text.size(); at += kTextBytesPerBlock) {
    const BlockRef ref = core.blocks.Take();
    if (ref == 0) {
      core.blocks.GiveChain(list.head, 0);
      return {};
    }
    Block& block = core.blocks.at(ref);
    block.Start(owner, BlockKind::kText);
    block.set_prev(list.tail);
    block.set_text(text.substr(at, kTextBytesPerBlock));
    if (list.tail != 0) {
      core.blocks.at(list.tail).set_next(ref);
    } else {
      list.head = ref;
    }
    list.tail = ref;
  }
  return list;
}

}  // namespace

BanState BanIn(const Slot& slot) {
  return std::bit_cast<BanState>(std::bit_cast<ListState>(slot.state).core);
}

bool IsLasting(const Slot& slot, const Turn& turn) {
  return slot.kind == kBanKind && slot.expiry.load(std::memory_order_relaxed) != 0 &&
         BanIn(slot).until_ns > turn.now.monotonic.time_since_epoch().count();
}

void WriteBan(TableCore& core, const Turn& turn, Slot& slot, const core::KeyView& key,
              BanState ban) {
  ListState list = std::bit_cast<ListState>(slot.state);
  if (list.head != 0) {  // The text of the same key.
    ban.text_bytes = BanIn(slot).text_bytes;
  } else {
    BanText room;  // NOLINT: TextOf writes what is read of it.
    const std::string_view text = TextOf(key, room);
    list = TextBlocks(core, core.slots.IndexOf(slot), text);
    ban.text_bytes = list.head == 0 ? 0 : text.size();
  }
  list.core = std::bit_cast<decltype(list.core)>(ban);
  Journal journal(core.base, core.journal[turn.thread]);
  journal.Save(&slot.rule, kSlotImageBytes);
  journal.Publish();
  slot.state = std::bit_cast<RawState>(list);
  slot.expiry.store(ExpirySecond(TableInstant(Duration(ban.until_ns)), turn.now.monotonic),
                    std::memory_order_relaxed);
  journal.Retire();
}

std::size_t CopyText(const TableCore& core, const Slot& slot, BanText& into) {
  const std::size_t size = std::min<std::uint64_t>(BanIn(slot).text_bytes, into.size());
  std::size_t copied = 0;
  for (BlockRef ref = std::bit_cast<ListState>(slot.state).head; ref != 0 && copied < size;
       ref = core.blocks.at(ref).next()) {
    const BlockText bytes = core.blocks.at(ref).text();
    const std::size_t part = std::min(bytes.size(), size - copied);
    std::copy_n(bytes.begin(), part, into.begin() + static_cast<std::ptrdiff_t>(copied));
    copied += part;
  }
  return copied;
}

}  // namespace sluice::store
