#include "store/table_open.h"

#include <atomic>
#include <cstring>
#include <optional>
#include <utility>

#include <unistd.h>

#include "base/fault.h"
#include "store/locked_file.h"
#include "store/table_load.h"

namespace sluice::store {

namespace {

Geometry GeometryOf(const TableOptions& options) {
  return {.homes = options.keys + (options.keys + 3) / 4,
          .blocks = options.blocks != 0 ? options.blocks : (options.keys + 3) / 4};
}

// A file whose process was killed before it wrote the magic: it has only its format.
bool IsUnfinished(const TableHeader& header, std::size_t file_bytes) {
  return header.magic == std::array<char, 8>{} && header.format.version >= kOldestTableVersion &&
         header.format.version <= kTableVersion && header.format.file_bytes == file_bytes &&
         IsPossible(header.format.geometry) &&
         TableLayout::Of(header.format.geometry).bytes == file_bytes;
}

TableBytes BytesOf(Mapping mapping, const TableLayout& layout) {
  const TableParts parts = TableParts::Of(mapping.bytes(), layout);
  return {.mapping = std::move(mapping), .parts = parts, .blocks_in_use = {}, .opening = {}};
}

tl::unexpected<Error> At(const std::string& path, Error error) {
  if (error.place.file.empty()) {
    error.place.file = path;
  }
  return tl::unexpected(std::move(error));
}

// A new table, empty or loaded from a snapshot.
Result<TableBytes> OpenNew(Mapping mapping, const TableLayout& layout,
                           const std::string& snapshot) {
  TableBytes bytes = BytesOf(std::move(mapping), layout);
  bytes.parts.header->format = layout.format();
  auto loaded = LoadSnapshot({.newest = snapshot}, bytes.parts);
  if (!loaded) {
    return tl::unexpected(loaded.error());
  }
  bytes.opening.warnings = std::move(loaded->warnings);
  if (loaded->from.empty()) {
    bytes.parts.header->secret = DrawHashSecret();
    return bytes;
  }
  bytes.opening.loaded_from = std::move(loaded->from);
  bytes.opening.keys = loaded->keys;
  bytes.blocks_in_use = std::move(loaded->blocks_in_use);
  return bytes;
}

Result<TableBytes> Resume(LockedFile file, const TableLayout& layout, bool huge_pages) {
  const std::string path = file.path();
  auto mapping = Mapping::File(std::move(file), layout.bytes, huge_pages);
  if (!mapping) {
    return tl::unexpected(mapping.error());
  }
  TableBytes bytes = BytesOf(*std::move(mapping), layout);
  auto recovered = Recover(bytes.parts);
  if (!recovered) {
    return At(path, recovered.error());
  }
  bytes.blocks_in_use = std::move(recovered->blocks_in_use);
  bytes.parts.header->format.version = kTableVersion;
  bytes.opening.resumed = true;
  bytes.opening.requests_undone = recovered->requests_undone;
  return bytes;
}

// The table of another size moves, key by key, into a file beside it, which then takes its
// place: killed meanwhile, the old one still stands. Both are locked until then.
Result<TableBytes> Resize(LockedFile file, const TableLayout& layout, const TableLayout& old_layout,
                          const base::Clock& clock) {
  const std::string path = file.path();
  auto old = Resume(std::move(file), old_layout, false);
  if (!old) {
    return old;
  }
  auto new_file = LockedFile::Open(path + ".new");
  if (!new_file) {
    return tl::unexpected(new_file.error());
  }
  const auto give_up = [&path](Error error) {
    unlink((path + ".new").c_str());
    return At(path, std::move(error));
  };
  if (auto cleared = new_file->Clear(); !cleared) {
    return give_up(cleared.error());
  }
  auto mapping = Mapping::File(*std::move(new_file), layout.bytes, false);
  if (!mapping) {
    Error error = mapping.error();
    error.message +=
        "; a table that changes its size needs room for both. Or set table.keys and table.blocks "
        "back";
    return give_up(std::move(error));
  }
  TableBytes bytes = BytesOf(*std::move(mapping), layout);
  bytes.parts.header->format = layout.format();
  auto loaded = LoadTable(old->parts, old->blocks_in_use, clock, bytes.parts);
  if (!loaded) {
    return give_up(loaded.error());
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  bytes.parts.header->magic = kTableMagic;
  if (auto renamed = bytes.mapping.RenameTo(path); !renamed) {
    return give_up(renamed.error());
  }
  bytes.blocks_in_use = std::move(loaded->blocks_in_use);
  bytes.opening.resumed = true;
  bytes.opening.resized = true;
  bytes.opening.requests_undone = old->opening.requests_undone;
  bytes.opening.keys = loaded->keys;
  return bytes;
}

Result<TableBytes> OpenFile(const TableOptions& options, const TableLayout& layout,
                            const base::Clock& clock) {
  auto file = LockedFile::Open(options.path);
  if (!file) {
    return tl::unexpected(file.error());
  }
  std::optional<std::string> warning;
  if (file->size() != 0) {
    TableHeader header;
    const ssize_t got = pread(file->descriptor(), &header, sizeof(header), 0);
    const bool whole = got == static_cast<ssize_t>(sizeof(header));
    if (!whole || !IsUnfinished(header, file->size())) {
      if (std::string misfit = whole ? MisfitOf(header, file->size()) : MisfitOf({}, file->size());
          !misfit.empty()) {
        return FileFault(options.path, std::move(misfit));
      }
      // On a disk, a power cut may have left old pages beside new ones. A snapshot is whole.
      if (header.clock.boot_id == CurrentBootId() ||
          !HasGoodSnapshot({.newest = options.snapshot})) {
        const TableLayout found = TableLayout::Of(header.format.geometry);
        return header.format.geometry == layout.geometry
                   ? Resume(*std::move(file), layout, options.huge_pages)
                   : Resize(*std::move(file), layout, found, clock);
      }
      warning =
          options.path + ": the file is from before a reboot, so its snapshot was loaded instead";
    }
    if (auto cleared = file->Clear(); !cleared) {
      return tl::unexpected(cleared.error());
    }
  }
  auto mapping = Mapping::File(*std::move(file), layout.bytes, options.huge_pages);
  if (!mapping) {
    return tl::unexpected(mapping.error());
  }
  auto bytes = OpenNew(*std::move(mapping), layout, options.snapshot);
  if (bytes && warning) {
    bytes->opening.warnings.push_back(*std::move(warning));
  }
  return bytes;
}

}  // namespace

Result<TableBytes> OpenTableBytes(const TableOptions& options, const base::Clock& clock) {
  if (options.keys < 1 || options.keys > kMostKeys) {
    return Fault("table.keys must be 1 to " + std::to_string(kMostKeys));
  }
  const Geometry geometry = GeometryOf(options);
  if (geometry.blocks > kMaxBlocks) {
    return Fault("table.blocks must be at most " + std::to_string(kMaxBlocks));
  }
  const TableLayout layout = TableLayout::Of(geometry);
  if (!options.path.empty()) {
    return OpenFile(options, layout, clock);
  }
  auto mapping = Mapping::Anonymous(layout.bytes, options.huge_pages);
  return mapping ? OpenNew(*std::move(mapping), layout, options.snapshot)
                 : tl::unexpected(mapping.error());
}

}  // namespace sluice::store
