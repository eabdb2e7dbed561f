#include "environment_reader.h"

#include <chrono>
#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace sluice::app {
namespace {

// What cannot be read is said, and then the value is what it would be without the variable.
class EnvironmentReaderTest : public testing::Test {
 protected:
  [[nodiscard]] EnvironmentReader Of(const std::string& value) {
    environment_ = [value](std::string_view /*name*/) { return std::optional(value); };
    return {environment_, findings_};
  }
  // The only error, which is taken.
  [[nodiscard]] std::string Error() {
    EXPECT_EQ(findings_.errors.size(), 1U);
    const std::string text = findings_.errors.empty() ? "" : findings_.errors.front().message;
    findings_.errors.clear();
    return text;
  }

  Environment environment_;
  rules::Findings findings_;
};

TEST_F(EnvironmentReaderTest, ATruthThatIsNoneIsWhatItOtherwiseIs) {
  EXPECT_TRUE(Of("yes").Bool("A", true));
  EXPECT_EQ(Error(), "A=yes is neither true nor false");
  EXPECT_FALSE(Of("").Bool("A", false));
  EXPECT_EQ(Error(), "A= is neither true nor false");
  EXPECT_FALSE(Of("f").Bool("A", true));
  EXPECT_TRUE(Of("True").Bool("A", false));
  EXPECT_TRUE(findings_.errors.empty());
}

TEST_F(EnvironmentReaderTest, ANumberIsAllOfTheTextAndWithinItsBounds) {
  EXPECT_EQ(Of("10").Number("A", 7, 10), 10U);
  for (const char* bad : {"11", "-1", "", "3x", " 3", "1e1"}) {
    EXPECT_EQ(Of(bad).Number("A", 7, 10), 7U);
    EXPECT_EQ(Error(), std::string("A=") + bad + " is not a number from 0 to 10");
  }
}

TEST_F(EnvironmentReaderTest, AShareIsFromNoneToAll) {
  EXPECT_EQ(Of("0.25").Share("A", 0.5F), 0.25F);
  for (const char* bad : {"1.1", "-0.1", "nan", "", "half"}) {
    EXPECT_EQ(Of(bad).Share("A", 0.5F), 0.5F);
    EXPECT_EQ(Error(), std::string("A=") + bad + " is not a number from 0 to 1");
  }
}

TEST_F(EnvironmentReaderTest, ATimeIsADurationOfGoAndNotNegative) {
  EXPECT_EQ(Of("1m30s").Time("A", {}), std::chrono::seconds(90));
  for (const char* bad : {"-1s", "10", "soon"}) {
    EXPECT_EQ(Of(bad).Time("A", std::chrono::seconds(3)), std::chrono::seconds(3));
    EXPECT_EQ(Error(), std::string("A=") + bad + " is not a duration, such as 10s or 1h30m");
  }
}

}  // namespace
}  // namespace sluice::app
