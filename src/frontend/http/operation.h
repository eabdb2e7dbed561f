#pragma once

namespace sluice::frontend::http {

// What a request asks that is not one check: many of them, a hold to give back. Made for one
// exchange, which owns it from Exchange::Send() until its next request. One thread.
class Operation {
 public:
  Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  virtual ~Operation() = default;

  // Asks. Answers the exchange in the end and calls its OnOperationDone(): once, during this or
  // later, and then touches neither.
  virtual void Start() = 0;
};

}  // namespace sluice::frontend::http
