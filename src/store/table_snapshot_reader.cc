#include "store/table_snapshot_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "store/block.h"
#include "store/key_loader.h"
#include "store/locked_file.h"
#include "store/table_snapshot_format.h"

namespace sluice::store {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20U;
constexpr const char* kRemedy = ": remove it to start without it";

// The bytes of a file from an offset on, read in pieces; earlier bytes are dropped.
class Pieces {
 public:
  Pieces(int file, std::uint64_t from, std::uint64_t to, SnapshotSum* sum)
      : file_(file), at_(from), end_(to), sum_(sum) {}

  // The next `bytes` bytes, until the next call; empty if the file has no more.
  std::span<const std::byte> Next(std::size_t bytes) {
    if (buffer_.size() - used_ < bytes && !Fill(bytes)) {
      return {};
    }
    const std::span<const std::byte> next(buffer_.data() + used_, bytes);
    used_ += bytes;
    return next;
  }
  [[nodiscard]] std::uint64_t left() const { return end_ - at_ + (buffer_.size() - used_); }

 private:
  bool Fill(std::size_t bytes) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(used_));
    used_ = 0;
    if (bytes > buffer_.size() + (end_ - at_)) {
      return false;
    }
    while (buffer_.size() < bytes) {
      const std::size_t had = buffer_.size();
      const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, end_ - at_));
      buffer_.resize(had + some);
      const ssize_t got = pread(file_, buffer_.data() + had, some, static_cast<off_t>(at_));
      buffer_.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
      if (got <= 0 && !(got < 0 && errno == EINTR)) {
        return false;
      }
      if (sum_ != nullptr) {
        sum_->Add(std::span(buffer_).subspan(had));
      }
      at_ += static_cast<std::uint64_t>(std::max<ssize_t>(got, 0));
    }
    return true;
  }

  int file_;
  std::uint64_t at_;
  std::uint64_t end_;
  SnapshotSum* sum_;
  std::vector<std::byte> buffer_;
  std::size_t used_ = 0;
};

std::size_t ItemBytes(std::uint8_t kind) {
  switch (BlocksOf(kind)) {
    case BlockKind::kFree:
      return 0;
    case BlockKind::kEntries:
      return sizeof(core::Entry);
    case BlockKind::kHolds:
      return sizeof(Hold);
    case BlockKind::kText:
      return sizeof(BlockText);
  }
  return 0;
}

template <class T>
bool ReadAt(int file, std::uint64_t offset, T& value) {
  return pread(file, &value, sizeof(T), static_cast<off_t>(offset)) ==
         static_cast<ssize_t>(sizeof(T));
}

}  // namespace

Result<SnapshotReader> SnapshotReader::Open(const std::string& path) {
  SnapshotReader reader(path, open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (reader.file_ < 0) {
    return reader.Fault("cannot be read (" + SystemWords(errno) +
                        "): let this user read it, or remove it");
  }
  if (auto read = reader.ReadEnds(); !read) {
    return tl::unexpected(read.error());
  }
  return reader;
}

SnapshotReader::SnapshotReader(SnapshotReader&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      head_(other.head_),
      tail_(other.tail_) {}

SnapshotReader::~SnapshotReader() {
  if (file_ >= 0) {
    close(file_);
  }
}

Result<void> SnapshotReader::ReadEnds() {
  struct stat status{};
  if (fstat(file_, &status) != 0 || !S_ISREG(status.st_mode)) {
    return Fault("is not a regular file" + std::string(kRemedy));
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (!ReadAt(file_, 0, head_) || head_.magic != kSnapshotMagic) {
    return Fault("is not a snapshot of Sluice, or is truncated" + std::string(kRemedy));
  }
  const SnapshotHead expected = NewSnapshotHead();
  if (head_.version < kOldestSnapshotVersion || head_.version > kSnapshotVersion) {
    return Fault(
        "is a snapshot of format " + std::to_string(head_.version) + ", and this Sluice reads " +
        std::to_string(expected.version) +
        ": start the Sluice that made it, or remove it to start with every key at its full limit");
  }
  if (head_.head_bytes != expected.head_bytes || head_.image_bytes != expected.image_bytes ||
      head_.entry_bytes != expected.entry_bytes || head_.hold_bytes != expected.hold_bytes ||
      head_.rule_bytes != expected.rule_bytes || head_.tail_bytes != expected.tail_bytes) {
    return Fault(
        "is a snapshot of another build of Sluice: start the one that made it, or remove it to "
        "start with every key at its full limit");
  }
  if (size < sizeof(head_) + sizeof(tail_) || !ReadAt(file_, size - sizeof(tail_), tail_) ||
      tail_.magic != kSnapshotEnd || tail_.file_bytes != size || tail_.rules > kRulePlaces ||
      tail_.rules * sizeof(SnapshotRule) > size - sizeof(head_) - sizeof(tail_)) {
    return Fault("is a truncated snapshot" + std::string(kRemedy));
  }
  return {};
}

Result<void> SnapshotReader::Verify(KeySink& sink) {
  SnapshotSum sum;
  sum.Add(std::as_bytes(std::span(&head_, 1)));
  auto walked = Walk(sink, &sum);
  if (!walked) {
    return walked;
  }
  Pieces rest(file_, keys_end(), tail_.file_bytes - sizeof(tail_.checksum), &sum);
  (void)rest.Next(static_cast<std::size_t>(rest.left()));
  if (sum.Value() != tail_.checksum) {
    return Fault("is a snapshot with a wrong checksum" + std::string(kRemedy));
  }
  return {};
}

Result<void> SnapshotReader::ForEachKey(KeySink& sink) {
  return Walk(sink, nullptr);
}

Result<void> SnapshotReader::Walk(KeySink& sink, SnapshotSum* sum) {
  const std::string damaged = "is a damaged snapshot" + std::string(kRemedy);
  Pieces pieces(file_, sizeof(head_), keys_end(), sum);
  std::uint64_t images = 0;
  for (; pieces.left() > 0; ++images) {
    KeyImage image;
    const auto bytes = pieces.Next(sizeof(image));
    if (bytes.empty()) {
      return Fault(damaged);
    }
    std::memcpy(&image, bytes.data(), sizeof(image));
    const std::size_t item_bytes = std::size_t{image.items} * ItemBytes(image.kind);
    std::span<const std::byte> items;
    if (item_bytes > 0) {
      items = pieces.Next(item_bytes);
      if (items.empty()) {
        return Fault(damaged);
      }
    }
    if (KeyLoader::IsDamaged(image, items)) {
      return Fault(damaged);
    }
    if (!sink.Take(image, items)) {
      return {};
    }
  }
  return images == tail_.images ? Result<void>{} : Fault(damaged);
}

Result<std::vector<SnapshotRule>> SnapshotReader::Rules() {
  std::vector<SnapshotRule> rules(tail_.rules);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    SnapshotRule& rule = rules[i];
    if (!ReadAt(file_, keys_end() + i * sizeof(rule), rule) || rule.number == 0 ||
        rule.number > kRulePlaces || rule.size == 0 || rule.size > kRuleIdBytes) {
      return Fault("is a damaged snapshot" + std::string(kRemedy));
    }
  }
  return rules;
}

tl::unexpected<Error> SnapshotReader::Fault(const std::string& what) const {
  return FileFault(path_, what);
}

}  // namespace sluice::store
