#include "lifecycle.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/event_loop.h"

namespace sluice::app {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LifecycleTest : public testing::Test {
 protected:
  class Part final : public Component {
   public:
    Part(std::string name, LifecycleTest& test) : name_(std::move(name)), test_(test) {}
    void Start() override { test_.Note("start " + name_); }
    void Drain() override { test_.Note("drain " + name_); }
    bool drained() override { return !busy; }
    void Stop() override { test_.Note("stop " + name_); }

    bool busy = false;

   private:
    const std::string name_;
    LifecycleTest& test_;
  };

  void Note(std::string what) { done_.push_back(std::move(what)); }
  std::vector<std::string> Take() { return std::exchange(done_, {}); }

  net::EventLoop loop_;
  std::vector<std::string> done_;
  Part a_{"a", *this};
  Part b_{"b", *this};
  Part c_{"c", *this};
  Lifecycle lifecycle_{loop_, {&a_, &b_, &c_}};
};

TEST_F(LifecycleTest, WhatWasStartedLastGoesFirst) {
  lifecycle_.Start();
  EXPECT_THAT(Take(), ElementsAre("start a", "start b", "start c"));
  lifecycle_.Drain(std::chrono::hours(1));
  EXPECT_THAT(Take(), ElementsAre("drain c", "drain b", "drain a"));
  loop_.Run();  // It was stopped: this returns.
  lifecycle_.Stop();
  EXPECT_THAT(Take(), ElementsAre("stop c", "stop b", "stop a"));
  lifecycle_.Stop();
  EXPECT_THAT(Take(), IsEmpty());
}

TEST_F(LifecycleTest, AComponentDrainsOnceTheOneAfterItIsDrained) {
  lifecycle_.Start();
  b_.busy = true;
  lifecycle_.Drain(std::chrono::hours(1));
  EXPECT_EQ(Take().back(), "drain b");
  loop_.RunOne();
  EXPECT_THAT(Take(), IsEmpty()) << "b is still busy";
  b_.busy = false;
  loop_.Run();
  EXPECT_THAT(Take(), ElementsAre("drain a"));
}

TEST_F(LifecycleTest, ATimeoutEndsTheDraining) {
  lifecycle_.Start();
  c_.busy = true;
  lifecycle_.Drain(Duration::zero());
  loop_.Run();
  lifecycle_.Stop();
  EXPECT_THAT(Take(), ElementsAre("start a", "start b", "start c", "drain c", "stop c", "stop b",
                                  "stop a"));
}

TEST_F(LifecycleTest, WhatWasNotStartedIsNotStopped) {
  lifecycle_.Stop();
  EXPECT_THAT(Take(), IsEmpty());
}

}  // namespace
}  // namespace sluice::app
