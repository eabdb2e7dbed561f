#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/result.h"

#include "rules/rule_set.h"

namespace sluice::sources {

// Rule files named by globs ("/etc/sluice/rules.d/*.yaml"), and word of their change.
//
// What is watched is the directories: of each glob, and of everything that a symbolic link on
// the way to a file passes through. So all the ways in which files change are seen: written in
// place, renamed over by an editor, created, deleted, the glob's directory itself made later,
// and the `..data` link that Kubernetes swaps under a mounted ConfigMap. There is no thread: who
// runs a loop polls fd(). One thread at a time.
class FileSource {
 public:
  // A glob has its wildcards (* ? [...]) in its last part or in directories before it. A path
  // without wildcards must exist when it is read; a glob that finds nothing is no error. Error:
  // the kernel has no inotify descriptor to give.
  // `watched`: files that are no rule files, whose changes count too.
  static Result<FileSource> Create(std::vector<std::string> globs,
                                   std::vector<std::string> watched = {});
  FileSource(FileSource&& other) noexcept;
  FileSource& operator=(FileSource&& other) noexcept;
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource();

  // What ReadGlobs() finds now.
  [[nodiscard]] Result<std::vector<rules::SourceText>> Read() const;

  // Readable when something may have changed. Non-blocking, closed on exec.
  [[nodiscard]] int fd() const { return fd_; }
  // Reads the kernel's notifications and watches the current files. True if it concerns our files:
  // Read() may give something else than before. Never blocks.
  bool OnReadable();

 private:
  // One step of an absolute path. A name that is really there is no pattern, whatever it holds.
  struct Part {
    std::string name;
    bool is_pattern = false;
  };

  FileSource(std::vector<std::string> globs, std::vector<std::string> watched, int fd);
  static std::vector<Part> PartsOf(const std::string& path, bool is_pattern);
  // Watches every directory that matters. True if one of them was not watched before.
  bool Arm();
  void WatchOnTheWayTo(const std::vector<Part>& parts, int links_left);
  void Watch(const std::string& directory);

  std::vector<std::string> globs_;
  std::vector<std::string> watched_;
  int fd_ = -1;
  std::map<std::string, int> watches_;  // By directory.
  std::map<int, std::string> paths_;    // By watch descriptor.
  bool found_unwatched_ = false;        // By the last Arm().
};

}  // namespace sluice::sources
