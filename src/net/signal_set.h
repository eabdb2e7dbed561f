#pragma once

#include <functional>
#include <initializer_list>
#include <memory>

namespace sluice::net {

class EventLoop;

// Signals of the process (SIGTERM, SIGINT, SIGHUP) as calls on a loop's thread, one per
// signal that came (the kernel may merge several). While one exists, those signals do not
// have their default effect. One thread: the loop's, or before it runs.
class SignalSet {
 public:
  SignalSet(EventLoop& loop, std::initializer_list<int> signals,
            std::function<void(int signal)> on_signal);
  ~SignalSet();
  SignalSet(const SignalSet&) = delete;
  SignalSet& operator=(const SignalSet&) = delete;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace sluice::net
