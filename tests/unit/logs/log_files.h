#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <zlib.h>

#include "support/temporary_folder.h"

namespace sluice::logs {

// A folder for the logs of a test, gone with it.
class LogFilesTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string Path(const std::string& name) const {
    return (folder_ / name).string();
  }
  std::string Write(const std::string& name, std::string_view text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return Path(name);
  }
  // One gzip member, behind what is there.
  std::string AppendGzip(const std::string& name, std::string_view text) const {
    gzFile file = gzopen(Path(name).c_str(), "ab");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    return Path(name);
  }
  void CutOff(const std::string& name, std::uintmax_t bytes) const {
    const auto path = folder_ / name;
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - bytes);
  }

 private:
  const support::TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
};

}  // namespace sluice::logs
