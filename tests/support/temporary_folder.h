#pragma once

#include <filesystem>
#include <random>
#include <string>
#include <system_error>

namespace sluice::support {

// A folder of a test's own, gone with it and all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::random_device random;
    do {
      path_ = std::filesystem::temp_directory_path() / ("sluice_test_" + std::to_string(random()));
    } while (!std::filesystem::create_directory(path_));  // False: somebody else's.
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace sluice::support
