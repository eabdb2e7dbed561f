#include "wire/path_normalizer.h"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "wire/url_encoding.h"

namespace sluice::wire {
namespace {

constexpr PathSettings kStrict{.strict = true};

// The normal form, or "refused: why".
std::string Normal(std::string_view path, const PathSettings& settings = kStrict) {
  std::string out = "before/";  // What stands before it is left alone.
  const auto done = AppendNormalPath(out, path, settings);
  return done ? out.substr(7) : "refused: " + std::string(done.error());
}

TEST(PathNormalizerTest, SpellingsOfOnePathAreOnePath) {
  for (const char* path :
       {"/login",        "//login",     "/login/",          "/login//",      "/./login",
        "/login/.",      "/a/../login", "/a/b/../../login", "/login/a/..",   "/../login",
        "/../../login",  "/%6Cogin",    "/%6c%6F%67in",     "/%2e/login",    "/a/%2E%2e/login",
        "/a/.%2e/login", "/login;x=1",  "/login;",          "/login;a;b=c/", "/;x/login",
        "/a;x/../login", "/login/;x",   "///login///"}) {
    EXPECT_EQ(Normal(path), "/login") << path;
  }
  for (const char* path : {"/", "//", "/.", "/./", "/..", "/a/..", "/a/../", "/;x", "/%2e"}) {
    EXPECT_EQ(Normal(path), "/") << path;
  }
}

TEST(PathNormalizerTest, DecodesOnce) {
  EXPECT_EQ(Normal("/%256Cogin"), "/%6Cogin");
  EXPECT_EQ(Normal("/a/%252e%252e/login"), "/a/%2e%2e/login");
  EXPECT_EQ(Normal("/100%"), "/100%");
  EXPECT_EQ(Normal("/%zz/%4"), "/%zz/%4");
  EXPECT_EQ(Normal("/a%3Bb"), "/a;b");  // Encoded, it begins no parameters.
  EXPECT_EQ(Normal("/a+b%20c%3Fd"), "/a+b c?d");
}

TEST(PathNormalizerTest, KeepsWhatIsNoSpelling) {
  EXPECT_EQ(Normal("/..."), "/...");
  EXPECT_EQ(Normal("/.well-known/x"), "/.well-known/x");
  EXPECT_EQ(Normal("/a..b/..c"), "/a..b/..c");
  EXPECT_EQ(Normal("/LOGIN"), "/LOGIN");
  EXPECT_EQ(Normal("*"), "*");
  EXPECT_EQ(Normal("/%C3%A9"), "/é");
  EXPECT_EQ(Normal("/%ff%c0%ae"), "/\ufffd\ufffd\ufffd");  // Also an overlong dot.
}

TEST(PathNormalizerTest, FoldsCaseOnRequest) {
  const PathSettings folding{.strict = true, .fold_case = true};
  EXPECT_EQ(Normal("/LOGIN", folding), "/login");
  EXPECT_EQ(Normal("/%4COGIN/É", folding), "/login/É");
}

TEST(PathNormalizerTest, RefusesWhatServersDisagreeOn) {
  const std::string slash = "refused: the path has an encoded slash or a backslash";
  for (const char* path : {"/a%2Fb", "/a%2fb", "/a\\b", "/a%5cb", "/..%2flogin", "/a;x=%2F"}) {
    EXPECT_EQ(Normal(path), slash) << path;
  }
  for (const char* path : {"/a%00", "/login%0a", "/%0D%0A", "/a%7f", "/a;x=%00"}) {
    EXPECT_EQ(Normal(path), "refused: the path has a control character") << path;
  }
  for (const char* path : {"/a/..;/b", "/a/.;x/b", "/a/%2e%2e;", "/..;x=1/login", "/a/..%3b/login",
                           "/a/%2e%2e%3Bx/login", "/a/.%3b", "/..%3b;/login"}) {
    EXPECT_EQ(Normal(path), "refused: the path has a dot segment with parameters") << path;
  }
  for (const char* path : {"/a//../b", "//a/../b", "/a/;x/../b"}) {
    EXPECT_EQ(Normal(path), "refused: the path has \"..\" after an empty segment") << path;
  }
  for (const char* path : {"", "login", "a/b", "host:443", "?x"}) {
    EXPECT_EQ(Normal(path), "refused: the path does not begin with a slash") << path;
  }
}

TEST(PathNormalizerTest, AnEncodedSlashMayBeDecodedOrKept) {
  const PathSettings decode{.strict = true, .encoded_slash = EncodedSlash::kDecode};
  EXPECT_EQ(Normal("/a%2Fb", decode), "/a/b");
  EXPECT_EQ(Normal("/a/..%2flogin", decode), "/login");
  EXPECT_EQ(Normal("/a\\..%5Clogin", decode), "/login");
  EXPECT_EQ(Normal("/%2flogin%2f", decode), "/login");
  const PathSettings keep{.strict = true, .encoded_slash = EncodedSlash::kKeep};
  EXPECT_EQ(Normal("/a%2fb", keep), "/a%2Fb");
  EXPECT_EQ(Normal("/a/..%2Flogin", keep), "/a/..%2Flogin");
  EXPECT_EQ(Normal("/a%5cb\\c", keep), "/a\\b\\c");
  EXPECT_EQ(
      Normal("/a%2Fb", {.strict = true, .fold_case = true, .encoded_slash = keep.encoded_slash}),
      "/a%2fb");
}

TEST(PathOfTargetTest, IsWhatAServerRoutesBy) {
  for (const char* target : {"/login", "/login?next=/x", "/login#top", "/login?a#b", "/login#a?b",
                             "http://host/login", "HTTPS://host:443/login?x"}) {
    EXPECT_EQ(PathOfTarget(target), "/login") << target;
  }
  EXPECT_EQ(PathOfTarget("https://host"), "/");
  EXPECT_EQ(PathOfTarget("https://host?x=/y"), "/");
  EXPECT_EQ(PathOfTarget("*"), "*");
  EXPECT_EQ(PathOfTarget("/caf\xe9 x"), "/caf\xe9 x");
  EXPECT_EQ(PathOfTarget(""), "");
}

// A random way to write the path of `segments`: every step is one that leaves its meaning.
std::string Spelling(const std::vector<std::string>& segments, std::mt19937& random) {
  const auto one_in = [&random](unsigned n) { return random() % n == 0; };
  std::string path;
  // Empty segments and ".." do not go together: that is refused.
  const bool merges = one_in(2);
  for (const std::string& segment : segments) {
    path += '/';
    while (one_in(3)) {
      path += merges ? "/" : one_in(2) ? "./" : "x/../";
    }
    for (const char c : segment) {
      if (one_in(4) || c == '%' || c == ';') {
        std::string escape;
        AppendPercentEncoded(escape, std::string(1, c == '~' ? '~' : c));
        static constexpr char kHex[] = "0123456789abcdefABCDEF";
        const auto byte = static_cast<unsigned char>(c);
        path += escape.size() == 3 ? escape : std::string{'%', kHex[byte >> 4U], kHex[byte & 15U]};
      } else {
        path += c;
      }
    }
    path += one_in(5) ? ";v=" + std::to_string(random() % 100) : "";
  }
  while (one_in(3)) {
    path += merges ? "/" : "/.";
  }
  return path;
}

TEST(PathNormalizerTest, EverySpellingOfARandomPathIsThatPath) {
  std::mt19937 random(20261129);  // NOLINT: the same paths each time.
  const std::vector<std::string> words{"login", "v1", "a b",     "%2f",  ";x",
                                       "...",   "é",  "A-B_c~d", "x=y&z"};
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> segments;
    std::string expected;
    for (auto i = 1 + random() % 4; i > 0; --i) {
      segments.push_back(words[random() % words.size()]);
      expected += "/" + segments.back();
    }
    const std::string spelling = Spelling(segments, random);
    ASSERT_EQ(Normal(spelling), expected) << spelling;
  }
}

// The normal form, its segments encoded again, is its own normal form.
TEST(PathNormalizerTest, IsIdempotentOnRandomPaths) {
  std::mt19937 random(42);  // NOLINT: the same paths each time.
  const std::vector<std::string> pieces{"/",   ".", "..",  ";",   "%2e", "%2F",
                                        "\\",  "a", "B",   "%41", "%25", "%zz",
                                        "%ff", "é", "%3b", "%",   "//",  "/../"};
  int normal = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string path = "/";
    for (auto i = random() % 12; i > 0; --i) {
      path += pieces[random() % pieces.size()];
    }
    const PathSettings settings{.strict = true,
                                .fold_case = random() % 2 == 0,
                                .encoded_slash = static_cast<EncodedSlash>(random() % 3)};
    std::string first;
    if (!AppendNormalPath(first, path, settings)) {
      continue;
    }
    ++normal;
    ASSERT_TRUE(first.starts_with('/'));
    ASSERT_TRUE(first == "/" || !first.ends_with('/')) << path;
    std::string again;
    if (settings.encoded_slash == EncodedSlash::kKeep) {
      continue;  // What it keeps, \ and %2F, it writes so that it cannot be encoded again.
    }
    for (std::size_t at = 0; at < first.size();) {
      again += '/';
      const std::size_t end = std::min(first.find('/', ++at), first.size());
      AppendPercentEncoded(again, first.substr(at, end - at));
      at = end;
    }
    std::string second;
    ASSERT_TRUE(AppendNormalPath(second, again, settings)) << path << " " << again;
    ASSERT_EQ(second, first) << path;
  }
  EXPECT_GT(normal, 5000);
}

}  // namespace
}  // namespace sluice::wire
