#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

namespace sluice::logs {

// A folder for the logs of a test, gone with it.
class LogFilesTest : public ::testing::Test {
 protected:
  LogFilesTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("sluice_logs_test." + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~LogFilesTest() override { std::filesystem::remove_all(folder_); }

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
  std::filesystem::path folder_;
};

}  // namespace sluice::logs
