// main() of a fuzz target in builds without libFuzzer: tries each file of the folders (or
// each file) given, once. A breach stops the process, as it would under the fuzzer.

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void Try(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  int tried = 0;
  for (int i = 1; i < argc; ++i) {
    const std::filesystem::path path(argv[i]);
    if (!std::filesystem::is_directory(path)) {
      Try(path);
      ++tried;
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      Try(entry.path());
      ++tried;
    }
  }
  std::printf("%d inputs tried\n", tried);
  return tried > 0 ? 0 : 1;  // An empty corpus is a mistake, not a pass.
}
