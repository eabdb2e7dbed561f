#include <cctype>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "wire/http_request.h"

namespace sluice::wire {
namespace {

const std::vector<std::pair<std::string, RareField>> kRare{
    {"Origin", RareField::kOrigin},
    {"Sec-Fetch-Site", RareField::kSecFetchSite},
    {"Content-Encoding", RareField::kContentEncoding},
    {"Idempotency-Key", RareField::kIdempotencyKey},
    {"X-Idempotency-Key", RareField::kIdempotencyKey},
};

TEST(HttpFieldsTest, NotesARareFieldWhereverItStands) {
  for (const auto& [name, rare] : kRare) {
    std::string lower = name;
    std::string upper = name;
    for (std::size_t i = 0; i < name.size(); ++i) {
      lower[i] = static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
      upper[i] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[i])));
    }
    for (const std::string& spelling : {name, lower, upper}) {
      for (const bool first : {true, false}) {
        HttpFields fields;
        fields.push_back({first ? spelling : "Host", ""});
        fields.push_back({first ? "Host" : spelling, ""});
        for (const auto& [other, other_rare] : kRare) {
          EXPECT_EQ(fields.Has(other_rare), other_rare == rare) << spelling << " " << other;
        }
      }
    }
  }
}

TEST(HttpFieldsTest, NotesNoNameThatOnlyLooksLikeOne) {
  for (const auto& [name, rare] : kRare) {
    for (std::size_t i = 0; i < name.size(); ++i) {
      std::string other = name;
      other[i] = other[i] == '_' ? '-' : '_';
      HttpFields fields;
      fields.push_back({other, ""});
      fields.push_back({name.substr(1), ""});
      fields.push_back({name + "s", ""});
      EXPECT_FALSE(fields.Has(rare)) << other;
    }
  }
}

TEST(HttpFieldsTest, ForgetsWhatItNotedWhenItIsCleared) {
  HttpFields fields;
  fields.push_back({"Origin", "null"});
  fields.clear();
  fields.push_back({"Host", "h"});
  EXPECT_FALSE(fields.Has(RareField::kOrigin));
  EXPECT_EQ(fields.size(), 1U);
}

}  // namespace
}  // namespace sluice::wire
