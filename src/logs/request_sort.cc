#include "logs/request_sort.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "base/fault.h"

namespace sluice::logs {

namespace {

constexpr std::size_t kFileBufferBytes = std::size_t{64} << 10;
// Requests of one second; further ones are returned as if they were the next second.
constexpr std::size_t kMostSecondBytes = std::size_t{64} << 20;

std::string TemporaryFolder() {
  const char* const folder = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe)
  return folder == nullptr || *folder == '\0' ? "/tmp" : folder;
}

tl::unexpected<Error> DiskFault(std::string_view what) {
  return FileFault(TemporaryFolder(), "cannot " + std::string(what) +
                                          " a temporary file to sort the log in: " +
                                          std::generic_category().message(errno) +
                                          "; set TMPDIR to a folder with room for it");
}

std::int64_t WholeSecond(WallInstant at) {
  return std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count();
}

}  // namespace

// Requests in order, in a file: written once, then read once.
class RequestSort::Piece {
 public:
  // The header of each request. Its values follow, each after its size.
  struct Head {
    WallInstant at{};
    Units cost = 0;
    std::uint64_t line = 0;
  };

  static Result<std::unique_ptr<Piece>> Create() {
    std::string path = TemporaryFolder() + "/sluice-sort-XXXXXX";
    const int fd = ::mkstemp(path.data());
    if (fd < 0) {
      return DiskFault("make");
    }
    ::unlink(path.c_str());
    std::FILE* const file = ::fdopen(fd, "w+b");
    if (file == nullptr) {
      ::close(fd);
      return DiskFault("make");
    }
    std::setvbuf(file, nullptr, _IOFBF, kFileBufferBytes);
    return std::unique_ptr<Piece>(new Piece(file));
  }
  ~Piece() { static_cast<void>(std::fclose(file_)); }
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;

  void Write(const SecondOfRequests& requests, std::size_t index, std::size_t values) {
    const SecondOfRequests::Entry& entry = requests.entry(index);
    const Head head{.at = entry.at, .cost = entry.cost, .line = entry.line};
    Put(&head, sizeof(head));
    for (std::size_t i = 0; i < values; ++i) {
      const std::string_view value = requests.Value(entry, i);
      const auto size = value.data() == nullptr ? SecondOfRequests::kAbsent
                                                : static_cast<std::uint32_t>(value.size());
      Put(&size, sizeof(size));
      Put(value.data(), value.size());
    }
  }
  // Call it after the last Write(). False: not everything could be written.
  [[nodiscard]] bool Rewind() {
    failed_ = failed_ || std::fflush(file_) != 0 || std::fseek(file_, 0, SEEK_SET) != 0;
    return !failed_;
  }

  // Reads the next request's header. False at the end, or if the file cannot be read: failed().
  [[nodiscard]] bool Advance() {
    const std::size_t got = std::fread(&head_, 1, sizeof(head_), file_);
    failed_ = failed_ || (got != 0 && got != sizeof(head_)) || std::ferror(file_) != 0;
    return got == sizeof(head_);
  }
  // Moves the values of the current request to `second`.
  void TakeValues(SecondOfRequests& second, std::size_t values) {
    for (std::size_t i = 0; i < values; ++i) {
      std::uint32_t size = 0;
      Get(&size, sizeof(size));
      if (failed_ || size == SecondOfRequests::kAbsent) {
        second.AddValue({});
        continue;
      }
      value_.resize(size);
      Get(value_.data(), size);
      second.AddValue(value_);
    }
  }
  [[nodiscard]] const Head& head() const { return head_; }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  explicit Piece(std::FILE* file) : file_(file) {}
  // For 0 bytes, `bytes` may be null, which C does not allow.
  void Put(const void* bytes, std::size_t size) {
    failed_ = failed_ || (size != 0 && std::fwrite(bytes, 1, size, file_) != size);
  }
  void Get(void* bytes, std::size_t size) {
    failed_ = failed_ || (size != 0 && std::fread(bytes, 1, size, file_) != size);
  }

  std::FILE* file_;
  bool failed_ = false;
  Head head_;
  std::string value_;
};

RequestSort::RequestSort(std::size_t values, std::size_t memory_bytes)
    : values_(values), memory_bytes_(memory_bytes) {}
RequestSort::~RequestSort() = default;

Result<void> RequestSort::Add(WallInstant at, Units cost, std::uint64_t line) {
  if (chunk_.memory() > memory_bytes_) {
    if (Result<void> spilled = Spill(); !spilled) {
      return spilled;
    }
  }
  chunk_.Add(at, cost, line);
  return {};
}

Result<void> RequestSort::Spill() {
  auto piece = Piece::Create();
  if (!piece) {
    return tl::unexpected(std::move(piece.error()));
  }
  chunk_.Sort();
  for (std::size_t i = 0; i < chunk_.size(); ++i) {
    (*piece)->Write(chunk_, i, values_);
  }
  if (!(*piece)->Rewind()) {
    return DiskFault("write");
  }
  chunk_.Clear();
  pieces_.push_back(std::move(*piece));
  return {};
}

Result<void> RequestSort::Finish() {
  if (pieces_.empty()) {
    chunk_.Sort();
    return {};
  }
  if (Result<void> spilled = Spill(); !spilled) {
    return spilled;
  }
  chunk_ = {};
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (pieces_[i]->Advance()) {
      heap_.push_back(i);
    } else if (pieces_[i]->failed()) {
      return DiskFault("read");
    }
  }
  return {};
}

Result<SecondOfRequests*> RequestSort::Next() {
  turn_ = (turn_ + 1) % rooms_.size();
  SecondOfRequests& room = rooms_[turn_];
  room.Clear();
  if (pieces_.empty()) {
    return NextFromMemory(room);
  }
  return NextFromPieces(room);
}

SecondOfRequests* RequestSort::NextFromMemory(SecondOfRequests& room) {
  while (next_ < chunk_.size() && room.memory() < kMostSecondBytes) {
    const SecondOfRequests::Entry& entry = chunk_.entry(next_);
    if (!room.empty() && WholeSecond(entry.at) != WholeSecond(room.entry(0).at)) {
      break;
    }
    room.Add(entry.at, entry.cost, entry.line);
    for (std::size_t i = 0; i < values_; ++i) {
      room.AddValue(chunk_.Value(entry, i));
    }
    ++next_;
  }
  return room.empty() ? nullptr : &room;
}

Result<SecondOfRequests*> RequestSort::NextFromPieces(SecondOfRequests& room) {
  // For equal times, the earlier piece first: it has the earlier lines.
  const auto later = [this](std::size_t a, std::size_t b) {
    const WallInstant at_a = pieces_[a]->head().at;
    const WallInstant at_b = pieces_[b]->head().at;
    return at_a != at_b ? at_a > at_b : a > b;
  };
  if (!std::ranges::is_heap(heap_, later)) {
    std::ranges::make_heap(heap_, later);
  }
  while (!heap_.empty() && room.memory() < kMostSecondBytes) {
    Piece& piece = *pieces_[heap_.front()];
    const Piece::Head head = piece.head();
    if (!room.empty() && WholeSecond(head.at) != WholeSecond(room.entry(0).at)) {
      break;
    }
    std::ranges::pop_heap(heap_, later);
    room.Add(head.at, head.cost, head.line);
    piece.TakeValues(room, values_);
    const bool more = piece.Advance();
    if (piece.failed()) {
      return DiskFault("read");
    }
    if (more) {
      std::ranges::push_heap(heap_, later);
    } else {
      heap_.pop_back();
    }
  }
  return room.empty() ? nullptr : &room;
}

}  // namespace sluice::logs
