#include <csignal>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lifecycle.h"
#include "net/event_loop.h"

namespace sluice::app {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DaemonSignalsTest : public testing::Test {
 protected:
  // The signal is acted on before this returns.
  void Send(int signal) {
    std::raise(signal);  // Blocked, so it waits in the descriptor.
    ASSERT_GT(loop_.Poll(), 0U);
  }
  void Attach() {
    signals_.Attach({.reload = [this] { done_.emplace_back("reload"); },
                     .stop = [this](int signal) { done_.push_back(std::to_string(signal)); }});
  }

  net::EventLoop loop_;
  DaemonSignals signals_{loop_};
  std::vector<std::string> done_;
};

TEST_F(DaemonSignalsTest, ActsOnEachOnceItIsAttached) {
  Attach();
  EXPECT_THAT(done_, IsEmpty());
  Send(SIGHUP);
  Send(SIGHUP);
  Send(SIGTERM);
  Send(SIGINT);
  EXPECT_THAT(done_, ElementsAre("reload", "reload", "15", "2"));
}

TEST_F(DaemonSignalsTest, AReloadThatWasAskedForBeforeIsDoneOnce) {
  Send(SIGHUP);
  Send(SIGHUP);
  EXPECT_EQ(signals_.stop_signal(), 0);
  Attach();
  EXPECT_THAT(done_, ElementsAre("reload"));
}

// What asks for the end between the last look of the start and Attach() counts.
TEST_F(DaemonSignalsTest, AStopThatWasAskedForBeforeIsDone) {
  Send(SIGINT);
  Send(SIGHUP);
  EXPECT_EQ(signals_.stop_signal(), SIGINT);
  Attach();
  EXPECT_THAT(done_, ElementsAre("2"));  // And nothing is reloaded for it.
  Send(SIGTERM);
  EXPECT_THAT(done_, ElementsAre("2", "15"));
}

TEST_F(DaemonSignalsTest, OnlyNotesThemOnceItIsDetached) {
  Attach();
  signals_.Detach();
  Send(SIGTERM);
  Send(SIGHUP);
  EXPECT_THAT(done_, IsEmpty());
}

}  // namespace
}  // namespace sluice::app
