#pragma once

#include <memory>
#include <string>
#include <string_view>

struct x509_st;
struct evp_pkey_st;

namespace sluice::support {

// Whoever signs certificates in a test, made anew for each: nothing that could expire in the
// repository.
class TestAuthority {
 public:
  explicit TestAuthority(const std::string& name = "Test Authority");
  ~TestAuthority();
  TestAuthority(const TestAuthority&) = delete;
  TestAuthority& operator=(const TestAuthority&) = delete;

  // Its own certificate, in PEM form.
  [[nodiscard]] const std::string& certificate() const { return certificate_; }

  struct Signed {
    std::string certificate;
    std::string key;
  };
  // For `name`, which is a host name, or an address if it reads as one. Ends in `days`.
  [[nodiscard]] Signed Sign(const std::string& name, int days = 30) const;

 private:
  evp_pkey_st* key_;
  x509_st* own_;
  std::string certificate_;
};

}  // namespace sluice::support
