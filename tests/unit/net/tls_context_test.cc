#include "net/tls_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/test_certificates.h"

namespace sluice::net {
namespace {

using support::TestAuthority;
using testing::AllOf;
using testing::HasSubstr;

std::string ErrorOf(const Result<std::shared_ptr<const TlsContext>>& made) {
  return made ? "" : made.error().Text();
}

std::string ServerError(const std::string& certificate, const std::string& key) {
  return ErrorOf(
      TlsContext::Server({.certificate = {"server.crt", certificate}, .key = {"server.key", key}}));
}

TEST(TlsContextTest, TakesACertificateAndItsKey) {
  const TestAuthority authority;
  const auto own = authority.Sign("localhost", 3);
  const auto made =
      TlsContext::Server({.certificate = {"server.crt", own.certificate + authority.certificate()},
                          .key = {"server.key", own.key},
                          .client_ca = PemFile{"ca.crt", authority.certificate()}});
  ASSERT_TRUE(made) << made.error().Text();
  const Duration left = (*made)->not_after()->time_since_epoch() -
                        std::chrono::system_clock::now().time_since_epoch();
  EXPECT_GT(left, std::chrono::hours(71));
  EXPECT_LE(left, std::chrono::hours(72));
}

TEST(TlsContextTest, SaysWhichFileIsWrongAndWhatToDo) {
  const TestAuthority authority;
  const auto own = authority.Sign("localhost");
  const auto other = authority.Sign("localhost");
  EXPECT_THAT(ServerError("", own.key),
              AllOf(HasSubstr("server.crt"), HasSubstr("holds no certificate in PEM form")));
  EXPECT_THAT(ServerError(own.key, own.key), HasSubstr("holds no certificate in PEM form"));
  EXPECT_THAT(ServerError(own.certificate, ""),
              AllOf(HasSubstr("server.key"), HasSubstr("holds no private key in PEM form")));
  EXPECT_THAT(
      ServerError(own.certificate, other.key),
      AllOf(HasSubstr("server.key"), HasSubstr("is not the key of"), HasSubstr("in server.crt")));
  // The chain the wrong way round is a key that does not fit.
  EXPECT_THAT(ServerError(authority.certificate() + own.certificate, own.key),
              HasSubstr("put the server's own certificate first"));
  const std::string cut = own.certificate.substr(0, own.certificate.size() / 2);
  EXPECT_THAT(ServerError(cut, own.key), HasSubstr("server.crt: certificate 1 cannot be read"));
  EXPECT_THAT(ServerError(own.certificate + cut, own.key),
              HasSubstr("server.crt: certificate 2 cannot be read"));
  EXPECT_THAT(ServerError(own.certificate, own.key.substr(0, own.key.size() / 2)),
              HasSubstr("server.key: the private key cannot be read"));
  EXPECT_THAT(ServerError(own.certificate,
                          "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n"
                          "-----END ENCRYPTED PRIVATE KEY-----\n"),
              HasSubstr("openssl pkey"));
}

TEST(TlsContextTest, SaysWhatIsWrongWithAnAuthority) {
  const TestAuthority authority;
  const auto own = authority.Sign("localhost");
  EXPECT_THAT(ErrorOf(TlsContext::Server({.certificate = {"server.crt", own.certificate},
                                          .key = {"server.key", own.key},
                                          .client_ca = PemFile{"ca.crt", "nothing"}})),
              HasSubstr("ca.crt: holds no certificate"));
  EXPECT_THAT(ErrorOf(TlsContext::Client({.ca = PemFile{"ca.crt", ""}})),
              HasSubstr("ca.crt: holds no certificate"));
  EXPECT_THAT(ErrorOf(TlsContext::Client({.certificate = PemFile{"a", own.certificate}})),
              HasSubstr("go together"));
}

TEST(TlsContextTest, AClientTrustsWhomTheSystemTrustsUnlessTold) {
  EXPECT_TRUE(TlsContext::Client({}));
}

}  // namespace
}  // namespace sluice::net
