#include "control/rule_controller.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include "daemon_config.h"
#include "net/event_loop.h"
#include "rule_files.h"
#include "support/scripted_store.h"
#include "support/temporary_folder.h"
#include "telemetry/registry.h"

namespace sluice::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kRule =
    "rules: [{id: a, key_pattern: 'u:{user_id}', algorithm: gcra, rate: %, window: 1m}]\n";

class RuleControllerTest : public testing::Test {
 protected:
  RuleControllerTest() {
    config_.own_rules = {.name = "", .text = "", .is_configuration = true};
    config_.rule_files = {(folder_ / "*.yaml").string()};
  }

  void Write(int rate) const {
    std::string text = kRule;
    text.replace(text.find('%'), 1, std::to_string(rate));
    std::ofstream(folder_ / "a.yaml") << text;
  }
  // A controller of what config_ says; the test fails where it cannot be.
  [[nodiscard]] std::unique_ptr<control::RuleController> Make() {
    auto modes = control::ModeFile::Create(loop_, service_, "");
    auto sources = RuleSourcesOf(config_);
    if (!modes || !sources) {
      ADD_FAILURE();
      return nullptr;
    }
    modes_ = *std::move(modes);
    auto made =
        control::RuleController::Create(loop_, service_, metrics_, *modes_, *std::move(sources));
    EXPECT_TRUE(made) << made.error().Text();
    return made ? *std::move(made) : nullptr;
  }
  [[nodiscard]] std::size_t rules() const { return service_.Rules()->rules().size(); }

  const support::TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
  DaemonConfig config_;
  net::EventLoop loop_;
  support::ScriptedStore store_;
  service::ServiceMetrics metrics_;
  service::LimiterService service_{store_, metrics_};
  std::unique_ptr<control::ModeFile> modes_;
};

TEST_F(RuleControllerTest, AFileAwayForAMomentLiftsNoLimit) {
  Write(1);
  const auto controller = Make();
  ASSERT_NE(controller, nullptr);
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

TEST_F(RuleControllerTest, AFileThatStaysAwayCounts) {
  Write(1);
  const auto controller = Make();
  ASSERT_NE(controller, nullptr);
  std::filesystem::remove(folder_ / "a.yaml");
  while (rules() == 1) {
    loop_.RunOne();
  }
  EXPECT_EQ(rules(), 0U);
}

// What the log says, by itself.
class LogLines {
 public:
  LogLines() : before_(spdlog::default_logger()) {
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(text_);
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", std::move(sink)));
  }
  ~LogLines() { spdlog::set_default_logger(before_); }
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;

  // What has come since the last call.
  std::string Take() {
    std::string text = text_.str();
    text_.str("");
    return text;
  }

 private:
  std::ostringstream text_;
  std::shared_ptr<spdlog::logger> before_;
};

// Rules inside the daemon's own configuration file.
class OwnRulesTest : public RuleControllerTest {
 protected:
  OwnRulesTest() { config_.rule_files.clear(); }

  void Configure(const std::string& text) const { std::ofstream(file_) << text; }
  static std::string Rules(int count) {
    std::string text = "rules:\n";
    for (int i = 0; i < count; ++i) {
      text += "  - {id: r" + std::to_string(i) +
              ", key_pattern: 'u:{user_id}', algorithm: gcra, rate: 5, window: 1m}\n";
    }
    return text;
  }
  void Start(const std::string& text) {
    Configure(text);
    rules::Findings findings;
    config_ = ReadDaemonConfig(text, file_, findings);
    ASSERT_TRUE(findings.errors.empty());
    controller_ = Make();
    ASSERT_NE(controller_, nullptr);
    (void)log_.Take();
  }
  [[nodiscard]] std::string reloads() {
    telemetry::Registry registry;
    registry.Add(metrics_);
    const std::string text = registry.Text();
    const auto count = [&](std::string_view result) {
      const std::string name = "sluice_rule_reloads_total{result=\"" + std::string(result) + "\"} ";
      const std::size_t at = text.find(name) + name.size();
      return text.substr(at, text.find('\n', at) - at);
    };
    return count("ok") + " ok, " + count("failed") + " failed";
  }

  const std::string file_ = (folder_ / "sluice.yml").string();
  std::unique_ptr<control::RuleController> controller_;
  LogLines log_;
};

TEST_F(OwnRulesTest, AreReadAgainWhenTheFileChanges) {
  Start("loops: 1\n" + Rules(1));
  ASSERT_EQ(rules(), 1U);
  Configure("loops: 1\n" + Rules(2));
  while (rules() != 2) {
    loop_.RunOne();
  }
  EXPECT_THAT(log_.Take(), HasSubstr("2 rules are active"));
}

TEST_F(OwnRulesTest, AreReadAgainOnDemand) {
  Start("loops: 1\n" + Rules(1));
  Configure("loops: 1\n" + Rules(3));
  controller_->ReloadOnDemand();
  EXPECT_EQ(rules(), 3U);
  EXPECT_EQ(reloads(), "2 ok, 0 failed");
  controller_->ReloadOnDemand();
  EXPECT_THAT(log_.Take(), HasSubstr("SIGHUP: rules reloaded, nothing changed"));
  EXPECT_EQ(reloads(), "3 ok, 0 failed");
}

TEST_F(OwnRulesTest, WhatDoesNotLoadChangesNothingIsSaidEachTimeAndCounted) {
  Start("loops: 1\n" + Rules(1));
  for (const std::string bad :
       {"loops: [\n", "lops: 1\nrules: []\n", "loops: 1\nrules: [{id: x}]\n"}) {
    Configure(bad);
    controller_->ReloadOnDemand();
    EXPECT_EQ(rules(), 1U) << bad;
    EXPECT_THAT(log_.Take(), HasSubstr("the new rules are invalid, the running rules stay active"))
        << bad;
    controller_->ReloadOnDemand();
    const std::string again = log_.Take();
    EXPECT_THAT(again, HasSubstr("SIGHUP: the rules are still invalid, the running rules stay "
                                 "active: " +
                                 file_ + ":"))
        << bad;
    EXPECT_EQ(std::ranges::count(again, '\n'), 1) << again;
  }
  EXPECT_EQ(reloads(), "1 ok, 6 failed");
  Configure("loops: 1\n" + Rules(1));
  controller_->ReloadOnDemand();
  EXPECT_EQ(reloads(), "2 ok, 6 failed");
}

// A file that is being written is empty for a moment.
TEST_F(OwnRulesTest, AFileThatHasBecomeEmptyLiftsNoLimit) {
  Start("loops: 1\n" + Rules(1));
  Configure("");
  controller_->ReloadOnDemand();
  EXPECT_EQ(rules(), 1U);
  EXPECT_THAT(log_.Take(), HasSubstr("the file is empty: for no rules write rules: []"));
  Configure("rules: []\n");
  controller_->ReloadOnDemand();
  EXPECT_EQ(rules(), 0U);
}

TEST_F(OwnRulesTest, WhatTakesARestartIsNamedWhenItChanged) {
  Start("loops: 1\ntable: {keys: 10}\n" + Rules(1));
  Configure("# a comment\nloops: 2\ntable: {keys: 10}\ndrain_timeout: 1s\n" + Rules(2));
  controller_->ReloadOnDemand();
  EXPECT_EQ(rules(), 2U);
  EXPECT_THAT(log_.Take(), HasSubstr("loops, drain_timeout changed: restart the daemon"));
  controller_->ReloadOnDemand();
  EXPECT_THAT(log_.Take(), Not(HasSubstr("restart")));
  Configure("table: {keys: 10}\nloops: 1\n" + Rules(2));
  controller_->ReloadOnDemand();
  EXPECT_THAT(log_.Take(), HasSubstr("no restart is needed any more"));
}

}  // namespace
}  // namespace sluice::app
