#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/fault.h"
#include "logs/line_reader.h"

namespace sluice::logs {

namespace {

constexpr std::size_t kChunkBytes = std::size_t{256} << 10;

// A file descriptor whose first bytes can be examined.
class PlainSource final : public ByteSource {
 public:
  PlainSource(std::string path, int fd, bool is_file, std::uint64_t size)
      : path_(std::move(path)), fd_(fd), is_file_(is_file), size_(size) {}
  ~PlainSource() override {
    if (fd_ > STDIN_FILENO) {
      ::close(fd_);
    }
  }
  PlainSource(const PlainSource&) = delete;
  PlainSource& operator=(const PlainSource&) = delete;

  // The first bytes, at most kHead, which Read() returns again.
  [[nodiscard]] Result<std::string_view> Head() {
    while (head_size_ < head_.size()) {
      const auto got = ReadFile({head_.data() + head_size_, head_.size() - head_size_});
      if (!got) {
        return tl::unexpected(got.error());
      }
      if (*got == 0) {
        break;
      }
      head_size_ += *got;
    }
    return std::string_view(head_.data(), head_size_);
  }

  Result<std::size_t> Read(std::span<char> room) override {
    if (head_given_ < head_size_) {
      const std::size_t count = std::min(room.size(), head_size_ - head_given_);
      std::memcpy(room.data(), head_.data() + head_given_, count);
      head_given_ += count;
      return count;
    }
    return ReadFile(room);
  }
  [[nodiscard]] bool is_file() const override { return is_file_; }
  [[nodiscard]] std::uint64_t position() const override { return position_; }
  [[nodiscard]] std::uint64_t size() const override { return size_; }

 private:
  Result<std::size_t> ReadFile(std::span<char> room) {
    for (;;) {
      const ssize_t got = ::read(fd_, room.data(), room.size());
      if (got >= 0) {
        position_ += static_cast<std::uint64_t>(got);
        return static_cast<std::size_t>(got);
      }
      if (errno != EINTR) {
        return FileFault(path_, "cannot be read: " + std::generic_category().message(errno));
      }
    }
  }

  std::string path_;
  int fd_;
  bool is_file_;
  std::uint64_t size_;
  std::uint64_t position_ = 0;
  std::array<char, 6> head_{};
  std::size_t head_size_ = 0;
  std::size_t head_given_ = 0;
};

// Decompresses gzip. Several members in a row are one text, as log rotation and pigz write them.
class GzipSource final : public ByteSource {
 public:
  GzipSource(std::string path, std::unique_ptr<PlainSource> packed)
      : path_(std::move(path)), packed_(std::move(packed)), chunk_(kChunkBytes) {
    ready_ = inflateInit2(&stream_, 15 + 16) == Z_OK;  // 32 KiB window, gzip header.
  }
  ~GzipSource() override {
    if (ready_) {
      inflateEnd(&stream_);
    }
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  Result<std::size_t> Read(std::span<char> room) override {
    if (!ready_) {
      return over_ ? Result<std::size_t>(0)
                   : FileFault(path_, "out of memory while decompressing it");
    }
    stream_.next_out = reinterpret_cast<Bytef*>(room.data());
    stream_.avail_out = static_cast<uInt>(room.size());
    while (stream_.avail_out == room.size()) {
      if (stream_.avail_in == 0) {
        auto got = packed_->Read(chunk_);
        if (!got) {
          return got;
        }
        if (*got == 0) {
          if (between_members_) {
            return End();
          }
          End();
          return FileFault(path_, "its gzip stream is truncated: the part before was read");
        }
        stream_.next_in = reinterpret_cast<Bytef*>(chunk_.data());
        stream_.avail_in = static_cast<uInt>(*got);
      }
      if (between_members_) {
        if (*stream_.next_in == 0) {  // Padding, as on tapes.
          ++stream_.next_in;
          --stream_.avail_in;
          continue;
        }
        between_members_ = false;
      }
      const int status = inflate(&stream_, Z_NO_FLUSH);
      if (status == Z_STREAM_END) {
        between_members_ = true;
        inflateReset(&stream_);
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        const std::string why = stream_.msg == nullptr ? "" : std::string(": ") + stream_.msg;
        const std::size_t got = room.size() - stream_.avail_out;
        if (got != 0) {
          return got;  // The next call reports the damage again.
        }
        End();
        return FileFault(path_, "its gzip stream is damaged: the part before was read" + why);
      }
    }
    return room.size() - stream_.avail_out;
  }
  [[nodiscard]] bool is_file() const override { return packed_->is_file(); }
  [[nodiscard]] std::uint64_t position() const override { return packed_->position(); }
  [[nodiscard]] std::uint64_t size() const override { return packed_->size(); }

 private:
  std::size_t End() {
    inflateEnd(&stream_);
    ready_ = false;
    over_ = true;
    return 0;
  }

  std::string path_;
  std::unique_ptr<PlainSource> packed_;
  std::vector<char> chunk_;
  z_stream stream_{};
  bool ready_ = false;
  bool over_ = false;
  bool between_members_ = false;
};

struct Packing {
  std::string_view magic;
  std::string_view name;
  std::string_view remedy;
};
constexpr std::array<Packing, 3> kForeign{{{"\x28\xB5\x2F\xFD", "zstd", "zstdcat"},
                                           {"BZh", "bzip2", "bzcat"},
                                           {std::string_view("\xFD"
                                                             "7zXZ\0",
                                                             6),
                                            "xz", "xzcat"}}};

}  // namespace

Result<std::unique_ptr<ByteSource>> ByteSource::Open(const std::string& path) {
  int fd = STDIN_FILENO;
  bool is_file = false;
  std::uint64_t size = 0;
  if (path != "-") {
    fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat about{};
    if (fd < 0 || ::fstat(fd, &about) != 0) {
      return FileFault(path, "cannot be opened: " + std::generic_category().message(errno));
    }
    is_file = S_ISREG(about.st_mode);
    size = is_file ? static_cast<std::uint64_t>(about.st_size) : 0;
  }
  auto plain = std::make_unique<PlainSource>(path, fd, is_file, size);
  const auto head = plain->Head();
  if (!head) {
    return tl::unexpected(head.error());
  }
  if (head->starts_with("\x1F\x8B")) {
    return std::make_unique<GzipSource>(path, std::move(plain));
  }
  for (const Packing& packing : kForeign) {
    if (head->starts_with(packing.magic)) {
      return FileFault(path, "is compressed with " + std::string(packing.name) +
                                 ": read it with `" + std::string(packing.remedy) +
                                 " FILE | sluice ... -`");
    }
  }
  return plain;
}

}  // namespace sluice::logs
