#include "store/key_copier.h"

#include <bit>

#include "core/judging.h"
#include "store/block.h"

namespace sluice::store {

namespace {

// The word of a list's state that entries count from, in both sliding_window_log and
// sliding_window.
constexpr std::size_t kOriginWord = 1;

std::uint64_t OriginOf(const RawState& state) {
  return std::bit_cast<ListState>(state).core[kOriginWord];
}

KeyImage ImageOf(const Slot& slot) {
  return {.high = slot.high.load(std::memory_order_relaxed),
          .low = slot.low.load(std::memory_order_relaxed),
          .expiry = slot.expiry.load(std::memory_order_relaxed),
          .rule = slot.rule,
          .kind = slot.kind,
          .heat = slot.heat.load(std::memory_order_relaxed),
          .state = slot.state};
}

template <class Item>
void Append(std::vector<std::byte>& items, const Item& item) {
  const auto bytes = std::bit_cast<std::array<std::byte, sizeof(Item)>>(item);
  items.insert(items.end(), bytes.begin(), bytes.end());
}

void DropEnds(KeyImage& image) {
  auto list = std::bit_cast<ListState>(image.state);
  list.head = 0;
  list.tail = 0;
  image.state = std::bit_cast<RawState>(list);
}

}  // namespace

bool KeyCopier::CopyAll(TableInstant now, KeySink& sink) {
  const std::uint32_t second = NowSecond(now);
  for (const Pass pass : {Pass::kKeys, Pass::kMarks}) {
    for (std::uint64_t i = 0; i < slots_.size(); ++i) {
      Slot& slot = slots_.at(i);
      if (slot.expiry.load(std::memory_order_relaxed) > second &&
          !CopyKey(slot, second, pass, sink)) {
        return false;
      }
    }
  }
  return true;
}

std::size_t KeyCopier::BytesOf(const KeyImage& image) const {
  const BlockKind kind = BlocksOf(image.kind);
  if (kind == BlockKind::kFree) {
    return 0;
  }
  std::size_t blocks = 0;
  for (BlockRef ref = std::bit_cast<ListState>(image.state).head; ref != 0;
       ref = blocks_.at(ref).next()) {
    if (++blocks == kBlocksAPart && kind == BlockKind::kEntries) {
      break;
    }
  }
  return blocks * kTextBytesPerBlock;  // No kind stores more bytes in a block.
}

KeyImage KeyCopier::LockWithRoom(Slot& slot) {
  for (;;) {
    Lock(slot, owner_);
    const KeyImage image = ImageOf(slot);
    const std::size_t bytes = image.expiry == 0 ? 0 : BytesOf(image);
    if (bytes <= items_.capacity()) {
      return image;
    }
    Unlock(slot);
    items_.reserve(2 * bytes);
  }
}

bool KeyCopier::CopyKey(Slot& slot, std::uint32_t now, Pass pass, KeySink& sink) {
  items_.clear();
  Mark mark;
  KeyImage image = LockWithRoom(slot);
  // A slot that is reserved and not yet used has no state; it counts as fresh.
  const bool counts = image.expiry > now && image.state != RawState{} &&
                      (image.kind == kMarkKind) == (pass == Pass::kMarks);
  if (counts) {
    switch (BlocksOf(image.kind)) {
      case BlockKind::kFree:
        break;
      case BlockKind::kHolds:
        CopyHolds(image);
        break;
      case BlockKind::kText:
        CopyText(image);
        break;
      case BlockKind::kEntries:
        mark.block = std::bit_cast<ListState>(image.state).head;
        CopyEntries(image, mark);
        break;
    }
  }
  Unlock(slot);
  if (!counts) {
    return true;
  }
  if (HasList(image.kind)) {
    DropEnds(image);
    if (image.items == 0 && BlocksOf(image.kind) != BlockKind::kText) {
      return true;
    }
  }
  return sink.Take(image, items_) && (mark.block == 0 || CopyMoreEntries(slot, image, mark, sink));
}

bool KeyCopier::CopyMoreEntries(Slot& slot, KeyImage image, Mark mark, KeySink& sink) {
  const Fingerprint key = image.key();
  for (std::uint32_t part = 1; mark.block != 0; ++part) {
    items_.clear();
    (void)LockWithRoom(slot);
    const bool still = FingerprintOf(slot) == key &&
                       slot.expiry.load(std::memory_order_relaxed) != 0 &&
                       slot.kind == image.kind && std::bit_cast<ListState>(slot.state).head != 0;
    if (!still) {
      image.expiry = 0;  // Reset, forgotten or evicted: the copied state is over.
      image.items = 0;
      mark = {};
    } else {
      image = ImageOf(slot);
      if (Stands(slot, mark)) {
        image.part = part;
      } else {  // All copied entries have gone since, so begin again.
        part = 0;
        mark = {.block = std::bit_cast<ListState>(slot.state).head};
      }
      CopyEntries(image, mark);
    }
    Unlock(slot);
    DropEnds(image);
    if (!sink.Take(image, items_)) {
      return false;
    }
  }
  return true;
}

// Within a chain no two entries have the same `at`, so an entry that stands where the mark
// was made, in a block that is this key's, is the one that was copied last.
bool KeyCopier::Stands(const Slot& slot, const Mark& mark) const {
  const Block& block = blocks_.at(mark.block);
  return block.kind() == BlockKind::kEntries && block.owner() == slots_.IndexOf(slot) &&
         mark.index >= block.first() && mark.index < block.first() + block.count() &&
         block.entry(mark.index).at == mark.at && OriginOf(slot.state) == mark.origin;
}

void KeyCopier::CopyEntries(KeyImage& image, Mark& mark) {
  if (mark.block == 0) {
    image.items = 0;
    return;
  }
  const bool resumes = image.part > 0;
  std::uint32_t i = resumes ? mark.index + 1 : blocks_.at(mark.block).first();
  BlockRef ref = mark.block;
  for (std::uint32_t blocks = 0; ref != 0; ++blocks) {
    const Block& block = blocks_.at(ref);
    const std::uint32_t end = block.first() + block.count();
    for (; i < end; ++i) {
      Append(items_, block.entry(i));
    }
    const BlockRef next = block.next();
    if (next != 0 && blocks + 1 == kBlocksAPart) {
      mark = {.block = ref,
              .index = end - 1,
              .at = block.entry(end - 1).at,
              .origin = OriginOf(image.state)};
      break;
    }
    ref = next;
    i = ref == 0 ? 0 : blocks_.at(ref).first();
  }
  if (ref == 0) {
    mark = {};
  }
  image.items = static_cast<std::uint32_t>(items_.size() / sizeof(core::Entry));
}

void KeyCopier::CopyHolds(KeyImage& image) {
  for (BlockRef ref = std::bit_cast<ListState>(image.state).head; ref != 0;) {
    const Block& block = blocks_.at(ref);
    for (std::uint32_t i = 0; i < kHoldsPerBlock; ++i) {
      if ((block.first() & (1U << i)) != 0) {
        Append(items_, block.hold(i));
      }
    }
    ref = block.next();
  }
  image.items = static_cast<std::uint32_t>(items_.size() / sizeof(Hold));
}

void KeyCopier::CopyText(KeyImage& image) {
  for (BlockRef ref = std::bit_cast<ListState>(image.state).head; ref != 0;) {
    const Block& block = blocks_.at(ref);
    Append(items_, block.text());
    ref = block.next();
  }
  image.items = static_cast<std::uint32_t>(items_.size() / sizeof(BlockText));
}

}  // namespace sluice::store
