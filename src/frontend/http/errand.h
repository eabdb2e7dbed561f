#pragma once

namespace sluice::frontend::http {

// What a request asks that is not one check: many of them, a hold to give back. Made for one
// exchange, which owns it from Exchange::Send() until its next request. One thread.
class Errand {
 public:
  Errand() = default;
  Errand(const Errand&) = delete;
  Errand& operator=(const Errand&) = delete;
  virtual ~Errand() = default;

  // Asks. Answers the exchange in the end and calls its OnErrandDone(): once, during this or
  // later, and then touches neither.
  virtual void Start() = 0;
};

}  // namespace sluice::frontend::http
