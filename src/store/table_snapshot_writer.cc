#include "store/table_snapshot_writer.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "store/locked_file.h"

namespace sluice::store {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20U;

std::string Remedy(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return ": free space there, or set table.snapshots to a directory on another disk";
    case EACCES:
    case EPERM:
      return ": let this user write there, or set another table.snapshots";
    case EROFS:
    case ENOENT:
    case ENOTDIR:
      return ": set table.snapshots to a writable directory";
    default:
      return "";
  }
}

}  // namespace

SnapshotWriter::SnapshotWriter(std::string path, int file) : path_(std::move(path)), file_(file) {
  buffer_.reserve(kBufferBytes);
}

Result<std::unique_ptr<SnapshotWriter>> SnapshotWriter::Create(const std::string& path,
                                                               const SnapshotHead& head) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  std::unique_ptr<SnapshotWriter> writer(new SnapshotWriter(path, file));
  if (file < 0) {
    writer->failed_ = errno;
    writer->finished_ = true;  // Nothing to remove.
    return writer->Fault();
  }
  writer->Append(head);
  return writer;
}

SnapshotWriter::~SnapshotWriter() {
  if (file_ >= 0) {
    close(file_);
  }
  if (!finished_) {
    unlink(path_.c_str());
  }
}

bool SnapshotWriter::Take(const KeyImage& image, std::span<const std::byte> items) {
  Append(image);
  Append(items);
  ++images_;
  keys_ += image.part == 0 ? 1 : 0;
  return failed_ == 0;
}

Result<void> SnapshotWriter::Finish(std::span<const RulePlace> rules, SnapshotTail tail) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    // Pairs with the release of the thread that added it: a reader that sees the size sees the id.
    const std::uint32_t size = rules[i].size.load(std::memory_order_acquire);
    if (size != 0) {
      Append(SnapshotRule{.number = static_cast<std::uint16_t>(i + 1),
                          .size = static_cast<std::uint16_t>(size),
                          .id = rules[i].id});
      ++tail.rules;
    }
  }
  tail.images = images_;
  tail.file_bytes = bytes_ + sizeof(tail);
  const auto bytes = std::as_bytes(std::span(&tail, 1));
  Append(bytes.first(sizeof(tail) - sizeof(tail.checksum)));
  Flush();
  tail.checksum = sum_.Value();
  Append(bytes.last(sizeof(tail.checksum)));
  Flush();
  if (failed_ == 0 && fsync(file_) != 0) {
    failed_ = errno;
  }
  if (failed_ != 0) {
    return Fault();
  }
  finished_ = true;
  return {};
}

void SnapshotWriter::Append(std::span<const std::byte> bytes) {
  bytes_ += bytes.size();
  while (!bytes.empty()) {
    if (buffer_.size() == kBufferBytes) {
      Flush();
    }
    const std::size_t some = std::min(bytes.size(), kBufferBytes - buffer_.size());
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(some));
    bytes = bytes.subspan(some);
  }
}

void SnapshotWriter::Flush() {
  sum_.Add(buffer_);
  for (std::size_t at = 0; at < buffer_.size() && failed_ == 0;) {
    const ssize_t wrote = write(file_, buffer_.data() + at, buffer_.size() - at);
    if (wrote > 0) {
      at += static_cast<std::size_t>(wrote);
    } else if (wrote == 0 || errno != EINTR) {
      failed_ = wrote == 0 ? EIO : errno;
    }
  }
  buffer_.clear();
}

tl::unexpected<Error> SnapshotWriter::Fault() const {
  return tl::unexpected(
      Error{"the snapshot cannot be written (" + SystemWords(failed_) + ")" + Remedy(failed_),
            {.file = path_}});
}

}  // namespace sluice::store
