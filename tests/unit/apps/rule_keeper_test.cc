#include "rule_keeper.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "net/event_loop.h"
#include "support/scripted_store.h"
#include "support/temporary_folder.h"

namespace sluice::app {
namespace {

constexpr const char* kRule =
    "rules: [{id: a, key_pattern: 'u:{user_id}', algorithm: gcra, rate: %, window: 1m}]\n";

class RuleKeeperTest : public testing::Test {
 protected:
  RuleKeeperTest() {
    config_.own_rules = {.name = "sluice.yaml", .text = "", .is_configuration = true};
    config_.rule_files = {(folder_ / "*.yaml").string()};
  }

  void Write(int rate) const {
    std::string text = kRule;
    text.replace(text.find('%'), 1, std::to_string(rate));
    std::ofstream(folder_ / "a.yaml") << text;
  }
  [[nodiscard]] std::size_t rules() const { return service_.Rules()->rules().size(); }

  const support::TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
  DaemonConfig config_;
  net::EventLoop loop_;
  support::ScriptedStore store_;
  service::ServiceMetrics metrics_;
  service::LimiterService service_{store_, metrics_};
};

TEST_F(RuleKeeperTest, AFileAwayForAMomentLiftsNoLimit) {
  Write(1);
  auto keeper = RuleKeeper::Create(loop_, service_, metrics_, config_);
  ASSERT_TRUE(keeper);
  ASSERT_TRUE((*keeper)->LoadFirst());
  const auto before = service_.Rules();
  ASSERT_EQ(rules(), 1U);
  std::filesystem::remove(folder_ / "a.yaml");  // As many an editor does.
  loop_.RunOne();                               // The change is seen here.
  EXPECT_EQ(rules(), 1U);
  Write(2);
  while (service_.Rules() == before) {
    loop_.RunOne();
    ASSERT_EQ(rules(), 1U);
  }
}

TEST_F(RuleKeeperTest, AFileThatStaysAwayCounts) {
  Write(1);
  auto keeper = RuleKeeper::Create(loop_, service_, metrics_, config_);
  ASSERT_TRUE(keeper);
  ASSERT_TRUE((*keeper)->LoadFirst());
  std::filesystem::remove(folder_ / "a.yaml");
  while (rules() == 1) {
    loop_.RunOne();
  }
  EXPECT_EQ(rules(), 0U);
}

}  // namespace
}  // namespace sluice::app
