#include "sluice/result.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(ErrorTest, SaysThePlaceBeforeTheMessage) {
  EXPECT_EQ((Error{"unknown field perid", {"rules.yaml", 3, 5}}).Text(),
            "rules.yaml:3:5: unknown field perid");
  EXPECT_EQ((Error{"cannot be read", {"rules.yaml", 0, 0}}).Text(), "rules.yaml: cannot be read");
  EXPECT_EQ((Error{"unexpected end", {"", 1, 9}}).Text(), "1:9: unexpected end");
  EXPECT_EQ((Error{"no rules", {}}).Text(), "no rules");
}

}  // namespace
}  // namespace sluice
