#include "sources/file_source.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "sources/file_sets.h"
#include "support/temporary_folder.h"

namespace sluice::sources {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FileSourceTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string Path(const std::string& name) const { return (root_ / name).string(); }
  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  [[nodiscard]] FileSource Source(std::vector<std::string> names) const {
    for (std::string& name : names) {
      name = Path(name);
    }
    return std::move(*FileSource::Create(std::move(names)));
  }
  // "a.yaml=text" for each file read, or the error.
  [[nodiscard]] std::vector<std::string> Read(const FileSource& source) const {
    const auto texts = source.Read();
    if (!texts.has_value()) {
      return {texts.error().Text()};
    }
    std::vector<std::string> read;
    for (const rules::SourceText& text : *texts) {
      read.push_back(fs::path(text.name).lexically_relative(root_).string() + "=" + text.text);
    }
    return read;
  }
  // Whether word of a change is there; the kernel queues it before the change returns.
  static bool Readable(const FileSource& source) {
    pollfd poll_fd{source.fd(), POLLIN, 0};
    return poll(&poll_fd, 1, 0) == 1;
  }
  static bool Changed(FileSource& source) {
    bool changed = false;
    while (Readable(source)) {
      changed |= source.OnReadable();
    }
    return changed;
  }

  const support::TemporaryFolder temporary_;
  const fs::path root_ = temporary_.path();
};

TEST_F(FileSourceTest, ReadsGlobsInSortedOrderAndEachFileOnce) {
  Write("d/b.yaml", "B");
  Write("d/a.yaml", "A");
  Write("d/c.txt", "C");
  Write("z.yaml", "Z");
  EXPECT_THAT(Read(Source({"z.yaml", "d/*.yaml", "d/a.yaml"})),
              ElementsAre("z.yaml=Z", "d/a.yaml=A", "d/b.yaml=B"));
  EXPECT_THAT(Read(Source({"d/*.json"})), IsEmpty());
}

TEST_F(FileSourceTest, WarnsOfAGlobThatNamesNoFile) {
  Write("d/a.yaml", "A");
  const std::vector<std::string> globs{Path("d/*.yaml"), Path("d/*.yml"), Path("nope.yaml")};
  const std::vector<Error> warnings = WarnOfEmptyGlobs(globs);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings[0].Text(), HasSubstr("d/*.yml: matches no file"));
}

TEST_F(FileSourceTest, SaysWhatCannotBeRead) {
  Write("d/a.yaml", "A");
  EXPECT_THAT(Read(Source({"nope.yaml"})), ElementsAre(HasSubstr("nope.yaml: there is no such")));
  EXPECT_THAT(Read(Source({"d"})), ElementsAre(HasSubstr("is a directory")));
}

TEST_F(FileSourceTest, IsSilentUntilSomethingChanges) {
  Write("a.yaml", "A");
  FileSource source = Source({"a.yaml"});
  EXPECT_FALSE(Readable(source));
  EXPECT_THAT(Read(source), ElementsAre("a.yaml=A"));
  EXPECT_FALSE(Readable(source));
  EXPECT_FALSE(source.OnReadable());
}

TEST_F(FileSourceTest, SeesAFileWrittenInPlaceAndRenamedOver) {
  Write("a.yaml", "A");
  FileSource source = Source({"a.yaml"});
  Write("a.yaml", "B");
  EXPECT_TRUE(Changed(source));
  EXPECT_THAT(Read(source), ElementsAre("a.yaml=B"));
  for (const char* text : {"C", "D"}) {  // Twice: the watch must outlive the first rename.
    Write("a.yaml.new", text);
    Changed(source);
    fs::rename(root_ / "a.yaml.new", root_ / "a.yaml");
    EXPECT_TRUE(Changed(source));
    EXPECT_THAT(Read(source), ElementsAre(std::string("a.yaml=") + text));
  }
}

TEST_F(FileSourceTest, SeesFilesCreatedAndDeleted) {
  Write("d/a.yaml", "A");
  FileSource source = Source({"d/*.yaml"});
  Write("d/b.yaml", "B");
  EXPECT_TRUE(Changed(source));
  EXPECT_THAT(Read(source), ElementsAre("d/a.yaml=A", "d/b.yaml=B"));
  fs::remove(root_ / "d/a.yaml");
  EXPECT_TRUE(Changed(source));
  EXPECT_THAT(Read(source), ElementsAre("d/b.yaml=B"));
}

TEST_F(FileSourceTest, SeesADirectoryMadeLaterAndReplaced) {
  FileSource source = Source({"x/y/*.yaml"});
  EXPECT_THAT(Read(source), IsEmpty());
  Write("x/y/a.yaml", "A");
  EXPECT_TRUE(Changed(source));
  EXPECT_THAT(Read(source), ElementsAre("x/y/a.yaml=A"));
  fs::rename(root_ / "x/y", root_ / "x/old");
  EXPECT_TRUE(Changed(source));
  EXPECT_THAT(Read(source), IsEmpty());
  Write("x/y/b.yaml", "B");
  EXPECT_TRUE(Changed(source));
  Write("x/y/b.yaml", "C");
  EXPECT_TRUE(Changed(source));
  EXPECT_THAT(Read(source), ElementsAre("x/y/b.yaml=C"));
}

TEST_F(FileSourceTest, SeesWildcardsInDirectories) {
  Write("t/one/a.yaml", "A");
  FileSource source = Source({"t/*/a.yaml"});
  Write("t/one/a.yaml", "B");
  EXPECT_TRUE(Changed(source));
  Write("t/two/a.yaml", "C");
  EXPECT_TRUE(Changed(source));
  EXPECT_THAT(Read(source), ElementsAre("t/one/a.yaml=B", "t/two/a.yaml=C"));
}

// As the kubelet does it: rules.yaml -> ..data/rules.yaml, ..data -> ..<stamp>; an update makes
// a new directory and renames a new link over ..data.
TEST_F(FileSourceTest, SeesTheLinkSwapOfAConfigMap) {
  Write("..2026_1/rules.yaml", "A");
  fs::create_symlink("..2026_1", root_ / "..data");
  fs::create_symlink("..data/rules.yaml", root_ / "rules.yaml");
  for (const char* name : {"rules.yaml", "*.yaml"}) {
    FileSource source = Source({name});
    EXPECT_THAT(Read(source), ElementsAre("rules.yaml=A"));
    int stamp = 2;
    for (const char* text : {"B", "C", "A"}) {
      const std::string directory = "..2026_" + std::string(name) + std::to_string(++stamp);
      Write(directory + "/rules.yaml", text);
      fs::create_symlink(directory, root_ / "..data_tmp");
      Changed(source);
      fs::rename(root_ / "..data_tmp", root_ / "..data");
      EXPECT_TRUE(Changed(source));
      EXPECT_THAT(Read(source), ElementsAre(std::string("rules.yaml=") + text));
    }
  }
}

TEST_F(FileSourceTest, SeesAChangeBehindALinkToAnotherDirectory) {
  Write("real/rules.yaml", "A");
  fs::create_directories(root_ / "etc");
  fs::create_symlink("../real/rules.yaml", root_ / "etc/rules.yaml");
  FileSource source = Source({"etc/rules.yaml"});
  Write("real/rules.yaml", "B");
  EXPECT_TRUE(Changed(source));
  EXPECT_THAT(Read(source), ElementsAre("etc/rules.yaml=B"));
  fs::create_symlink("etc", root_ / "alias");
  FileSource aliased = Source({"alias/*.yaml"});
  Write("real/rules.yaml", "C");
  EXPECT_TRUE(Changed(aliased));
}

TEST_F(FileSourceTest, ALoopOfLinksIsNoTrap) {
  fs::create_symlink("b.yaml", root_ / "a.yaml");
  fs::create_symlink("a.yaml", root_ / "b.yaml");
  FileSource source = Source({"a.yaml"});
  EXPECT_THAT(Read(source), ElementsAre(HasSubstr("a.yaml")));
}

}  // namespace
}  // namespace sluice::sources
