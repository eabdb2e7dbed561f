#include "control/change_error.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "control/mode_file.h"
#include "control/rule_controller.h"
#include "net/event_loop.h"
#include "support/scripted_store.h"
#include "support/temporary_folder.h"

namespace sluice::control {
namespace {

constexpr const char* kBody =
    R"({"key_pattern": "u:{user_id}", "algorithm": "gcra", "rate": 1, "window": "1m"})";

// Why changes of rules and modes are refused, without a protocol in between.
class ChangeErrorTest : public ::testing::Test {
 protected:
  ChangeErrorTest() {
    std::ofstream(folder_.path() / "r.yaml")
        << "rules: [{id: r, key_pattern: x, algorithm: fixed_window, window: 1h, limit: 1}]";
    modes_ = *ModeFile::Create(loop_, service_, (api_ / "modes.json").string());
    controller_ = *RuleController::Create(
        loop_, service_, metrics_, *modes_,
        {.files = {(folder_.path() / "r.yaml").string()}, .folder = api_.string(), .check = {}});
  }

  // Why not; nullopt where it was done.
  std::optional<ErrorCode> Put(std::string_view id, std::string_view body) {
    controller_->Put(id, body, [this](ChangeResult<Scope> done) { Note(done); });
    return code_;
  }
  std::optional<ErrorCode> Delete(std::string_view id) {
    controller_->Delete(id, [this](ChangeResult<Scope> done) { Note(done); });
    return code_;
  }
  void Note(const ChangeResult<Scope>& done) {
    code_ = done ? std::nullopt : std::optional(done.error().code);
  }

  const support::TemporaryFolder folder_;
  const std::filesystem::path api_ = folder_.path() / "api";
  net::EventLoop loop_;
  support::ScriptedStore store_;
  service::ServiceMetrics metrics_;
  service::LimiterService service_{store_, metrics_};
  std::unique_ptr<ModeFile> modes_;
  std::unique_ptr<RuleController> controller_;
  std::optional<ErrorCode> code_;
};

TEST_F(ChangeErrorTest, SaysWhyARuleIsNotPut) {
  EXPECT_EQ(Put("a b", kBody), ErrorCode::kInvalidId);
  EXPECT_EQ(Put("s", "[1]"), ErrorCode::kMalformed);
  EXPECT_EQ(Put("s", R"({"algorithm": "gcra"})"), ErrorCode::kInvalid);
  EXPECT_EQ(controller_->rules()->Find("s"), nullptr);
  EXPECT_EQ(Put("s", kBody), std::nullopt);
  EXPECT_NE(controller_->rules()->Find("s"), nullptr);
}

TEST_F(ChangeErrorTest, SaysWhyARuleIsNotDeleted) {
  EXPECT_EQ(Delete("none"), ErrorCode::kNotFound);
  EXPECT_EQ(Delete("r"), ErrorCode::kReadOnly);
  EXPECT_NE(controller_->rules()->Find("r"), nullptr);
}

TEST_F(ChangeErrorTest, AChangeThatCannotBeStoredIsRefused) {
  std::ofstream(api_) << "a file where the folder should be";
  EXPECT_EQ(Put("s", kBody), ErrorCode::kNotStored);
  const auto mode = modes_->SetMode("r", rules::Mode::kOff);
  ASSERT_FALSE(mode);
  EXPECT_EQ(mode.error().code, ErrorCode::kNotStored);
  const auto on = modes_->SetKillSwitch(true);
  ASSERT_FALSE(on);
  EXPECT_FALSE(service_.Modes().all.has_value()) << "nothing has changed";
}

TEST_F(ChangeErrorTest, TheModeOfADeletedRuleIsForgottenAndThatOfOneThatStaysIsNot) {
  ASSERT_EQ(Put("s", kBody), std::nullopt);
  ASSERT_EQ(Put("r", kBody), std::nullopt);  // Instead of the file's.
  ASSERT_TRUE(modes_->SetMode("s", rules::Mode::kShadow));
  ASSERT_TRUE(modes_->SetMode("r", rules::Mode::kShadow));
  EXPECT_EQ(Delete("s"), std::nullopt);
  EXPECT_EQ(Delete("r"), std::nullopt);
  EXPECT_FALSE(service_.Modes().by_rule.contains("s"));
  EXPECT_TRUE(service_.Modes().by_rule.contains("r")) << "the file's rule is in force again";
}

}  // namespace
}  // namespace sluice::control
