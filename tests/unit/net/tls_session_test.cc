#include "net/tls_session.h"

#include <array>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/test_certificates.h"

namespace sluice::net {
namespace {

using support::TestAuthority;
using testing::HasSubstr;
using Step = TlsSession::Step;

struct Ends {
  std::shared_ptr<const TlsContext> server;
  std::shared_ptr<const TlsContext> client;
};

Ends MakeEnds(std::vector<std::string> served, std::vector<std::string> offered) {
  const TestAuthority authority;
  const auto own = authority.Sign("localhost");
  return {.server = *TlsContext::Server({.certificate = {"crt", own.certificate},
                                         .key = {"key", own.key},
                                         .protocols = std::move(served)}),
          .client = *TlsContext::Client(
              {.ca = PemFile{"ca", authority.certificate()}, .protocols = std::move(offered)})};
}

// Hands `from`'s output to `to`, a byte at a time if asked, and lets it go on.
template <class Advance>
void Carry(TlsSession& from, TlsSession& to, bool bytewise, const Advance& advance) {
  const std::string sealed = std::exchange(from.output(), {});
  const std::size_t step = bytewise ? 1 : sealed.size();
  for (std::size_t at = 0; at < sealed.size(); at += step) {
    to.Feed({sealed.data() + at, step});
    advance();
  }
}

struct Outcome {
  Step server = Step::kNeedsInput;
  Step client = Step::kNeedsInput;
};

Outcome Shake(TlsSession& server, TlsSession& client, bool bytewise = false) {
  Outcome outcome;
  outcome.client = client.Handshake();
  while (!client.output().empty() || !server.output().empty()) {
    Carry(client, server, bytewise, [&] { outcome.server = server.Handshake(); });
    Carry(server, client, bytewise, [&] {
      if (outcome.client != Step::kDone) {
        outcome.client = client.Handshake();
      } else {
        std::array<char, 8> none{};
        (void)client.Read(none);  // Tickets.
      }
    });
  }
  return outcome;
}

std::string ReadAll(TlsSession& session) {
  std::string all;
  std::array<char, 1000> into{};
  for (;;) {
    const auto opened = session.Read(into);
    if (opened.step != Step::kDone) {
      return all;
    }
    all.append(into.data(), opened.size);
  }
}

TEST(TlsSessionTest, CarriesBytesBothWaysHoweverTheyAreCut) {
  for (const bool bytewise : {false, true}) {
    const Ends ends = MakeEnds({}, {});
    TlsSession server(ends.server);
    TlsSession client(ends.client, "localhost");
    const Outcome outcome = Shake(server, client, bytewise);
    ASSERT_EQ(outcome.server, Step::kDone);
    ASSERT_EQ(outcome.client, Step::kDone) << client.failure();
    const std::string sent(50'000, 'x');  // Several records.
    ASSERT_EQ(client.Write(sent), Step::kDone);
    std::string got;
    Carry(client, server, bytewise, [&] { got += ReadAll(server); });
    EXPECT_EQ(got, sent);
    ASSERT_EQ(server.Write("back"), Step::kDone);
    got.clear();
    Carry(server, client, bytewise, [&] { got += ReadAll(client); });
    EXPECT_EQ(got, "back");
  }
}

TEST(TlsSessionTest, ManySmallRecordsAreReadInOneGo) {
  const Ends ends = MakeEnds({}, {});
  TlsSession server(ends.server);
  TlsSession client(ends.client, "localhost");
  ASSERT_EQ(Shake(server, client).client, Step::kDone);
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(client.Write("request"), Step::kDone);
  }
  const std::string sealed = client.output();
  server.Feed(sealed);
  std::array<char, 1000> into{};
  EXPECT_EQ(server.Read(into).size, 50 * 7U);
}

TEST(TlsSessionTest, TheServersOrderDecidesWhatIsSpoken) {
  const Ends ends = MakeEnds({"h2", "http/1.1"}, {"http/1.1", "h2"});
  TlsSession server(ends.server);
  TlsSession client(ends.client, "localhost");
  ASSERT_EQ(Shake(server, client).client, Step::kDone);
  EXPECT_EQ(server.protocol(), "h2");
  EXPECT_EQ(client.protocol(), "h2");
}

TEST(TlsSessionTest, AClientWithoutProtocolsIsServedOneWithOnlyOthersIsNot) {
  const Ends none = MakeEnds({"http/1.1"}, {});
  TlsSession server(none.server);
  TlsSession client(none.client, "localhost");
  ASSERT_EQ(Shake(server, client).server, Step::kDone);
  EXPECT_EQ(server.protocol(), "");
  const Ends foreign = MakeEnds({"http/1.1"}, {"imap"});
  TlsSession strict(foreign.server);
  TlsSession other(foreign.client, "localhost");
  EXPECT_EQ(Shake(strict, other).server, Step::kFailed);
  EXPECT_THAT(other.failure(), HasSubstr("no application protocol"));
}

TEST(TlsSessionTest, AFrontEndThatNamesNoProtocolTakesWhateverIsOffered) {
  const Ends ends = MakeEnds({}, {"imap"});
  TlsSession server(ends.server);
  TlsSession client(ends.client, "localhost");
  EXPECT_EQ(Shake(server, client).client, Step::kDone);
  EXPECT_EQ(server.protocol(), "");
}

TEST(TlsSessionTest, TheServersNameIsHeldAgainstItsCertificate) {
  const Ends ends = MakeEnds({}, {});
  TlsSession server(ends.server);
  TlsSession client(ends.client, "other.example");
  EXPECT_EQ(Shake(server, client).client, Step::kFailed);
  EXPECT_THAT(client.failure(), HasSubstr("hostname mismatch"));
}

TEST(TlsSessionTest, AnyNameWillDoWhereItIsPassedOverButNotAnyAuthority) {
  const TestAuthority authority;
  const auto own = authority.Sign("localhost");
  const auto context =
      *TlsContext::Server({.certificate = {"crt", own.certificate}, .key = {"key", own.key}});
  const auto trusting = [](const TestAuthority& whom) {
    return *TlsContext::Client({.ca = PemFile{"ca", whom.certificate()}, .verify_name = false});
  };
  for (const char* const name : {"other.example", "127.0.0.2"}) {
    TlsSession server(context);
    TlsSession client(trusting(authority), name);
    EXPECT_EQ(Shake(server, client).client, Step::kDone) << client.failure();
    TlsSession again(context);
    TlsSession stranger(trusting(TestAuthority()), name);
    EXPECT_EQ(Shake(again, stranger).client, Step::kFailed);
  }
}

TEST(TlsSessionTest, AnAddressIsHeldAgainstAddresses) {
  const TestAuthority authority;
  const auto own = authority.Sign("127.0.0.1");
  const auto context =
      *TlsContext::Server({.certificate = {"crt", own.certificate}, .key = {"key", own.key}});
  const auto trust = *TlsContext::Client({.ca = PemFile{"ca", authority.certificate()}});
  TlsSession server(context);
  TlsSession client(trust, "127.0.0.1");
  EXPECT_EQ(Shake(server, client).client, Step::kDone) << client.failure();
  TlsSession again(context);
  TlsSession wrong(trust, "127.0.0.2");
  EXPECT_EQ(Shake(again, wrong).client, Step::kFailed);
  EXPECT_THAT(wrong.failure(), HasSubstr("IP address mismatch"));
}

TEST(TlsSessionTest, AStrangersCertificateIsNotTrustedUnlessNobodyLooks) {
  const TestAuthority stranger;
  const auto own = stranger.Sign("localhost");
  const auto context =
      *TlsContext::Server({.certificate = {"crt", own.certificate}, .key = {"key", own.key}});
  TlsSession server(context);
  const TestAuthority authority;
  TlsSession client(*TlsContext::Client({.ca = PemFile{"ca", authority.certificate()}}),
                    "localhost");
  EXPECT_EQ(Shake(server, client).client, Step::kFailed);
  EXPECT_THAT(client.failure(), HasSubstr("certificate verify failed"));
  TlsSession again(context);
  TlsSession careless(*TlsContext::Client({.verify_server = false}), "localhost");
  EXPECT_EQ(Shake(again, careless).client, Step::kDone);
}

TEST(TlsSessionTest, AnExpiredCertificateIsRefused) {
  const TestAuthority authority;
  const auto own = authority.Sign("localhost", -1);
  TlsSession server(
      *TlsContext::Server({.certificate = {"crt", own.certificate}, .key = {"key", own.key}}));
  TlsSession client(*TlsContext::Client({.ca = PemFile{"ca", authority.certificate()}}),
                    "localhost");
  EXPECT_EQ(Shake(server, client).client, Step::kFailed);
  EXPECT_THAT(client.failure(), HasSubstr("expired"));
}

TEST(TlsSessionTest, AClientNeedsACertificateWhereAnAuthorityIsSet) {
  const TestAuthority authority;
  const TestAuthority stranger("A Stranger");
  const auto own = authority.Sign("localhost");
  const auto context = *TlsContext::Server({.certificate = {"crt", own.certificate},
                                            .key = {"key", own.key},
                                            .client_ca = PemFile{"ca", authority.certificate()}});
  const auto shake = [&](const TestAuthority* signer) {
    TlsClientSettings settings{.ca = PemFile{"ca", authority.certificate()}};
    if (signer != nullptr) {
      const auto client_own = signer->Sign("client");
      settings.certificate = PemFile{"crt", client_own.certificate};
      settings.key = PemFile{"key", client_own.key};
    }
    TlsSession server(context);
    TlsSession client(*TlsContext::Client(settings), "localhost");
    return Shake(server, client).server;
  };
  EXPECT_EQ(shake(&authority), Step::kDone);
  EXPECT_EQ(shake(&stranger), Step::kFailed);
  EXPECT_EQ(shake(nullptr), Step::kFailed);
}

TEST(TlsSessionTest, AClientsCertificateMustHaveTheNameThatIsAskedFor) {
  const TestAuthority authority;
  const auto own = authority.Sign("localhost");
  const auto shake = [&](const std::string& wanted, const std::string& shown) {
    TlsSession server(*TlsContext::Server({.certificate = {"crt", own.certificate},
                                           .key = {"key", own.key},
                                           .client_ca = PemFile{"ca", authority.certificate()},
                                           .client_name = wanted}));
    const auto client_own = authority.Sign(shown);
    TlsSession client(*TlsContext::Client({.ca = PemFile{"ca", authority.certificate()},
                                           .certificate = PemFile{"crt", client_own.certificate},
                                           .key = PemFile{"key", client_own.key}}),
                      "localhost");
    return Shake(server, client).server;
  };
  EXPECT_EQ(shake("envoy.mesh.example", "envoy.mesh.example"), Step::kDone);
  EXPECT_EQ(shake("envoy.mesh.example", "*.mesh.example"), Step::kDone);
  EXPECT_EQ(shake("envoy.mesh.example", "other.mesh.example"), Step::kFailed);
  EXPECT_EQ(shake("envoy.mesh.example", "192.0.2.1"), Step::kFailed);
  EXPECT_EQ(shake("192.0.2.1", "192.0.2.1"), Step::kDone);
  EXPECT_EQ(shake("192.0.2.1", "192.0.2.2"), Step::kFailed);
  EXPECT_EQ(shake("192.0.2.1", "envoy.mesh.example"), Step::kFailed);
}

TEST(TlsSessionTest, TheEndIsToldAndTheOtherWayStaysOpen) {
  const Ends ends = MakeEnds({}, {});
  TlsSession server(ends.server);
  TlsSession client(ends.client, "localhost");
  ASSERT_EQ(Shake(server, client).client, Step::kDone);
  client.ShutdownWrite();
  std::array<char, 16> into{};
  Step step = Step::kNeedsInput;
  Carry(client, server, false, [&] { step = server.Read(into).step; });
  EXPECT_EQ(step, Step::kEnded);
  ASSERT_EQ(server.Write("the answer"), Step::kDone);
  std::string got;
  Carry(server, client, false, [&] { got += ReadAll(client); });
  EXPECT_EQ(got, "the answer");
}

TEST(TlsSessionTest, GarbageFailsWithAnAlert) {
  const Ends ends = MakeEnds({}, {});
  TlsSession server(ends.server);
  const std::string request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  server.Feed(request);
  EXPECT_EQ(server.Handshake(), Step::kFailed);
  EXPECT_THAT(server.failure(), HasSubstr("http request"));
  EXPECT_EQ(server.Handshake(), Step::kFailed);
  std::array<char, 16> into{};
  EXPECT_EQ(server.Read(into).step, Step::kFailed);
  EXPECT_EQ(server.Write("x"), Step::kFailed);
}

TEST(TlsSessionTest, AChangedByteFails) {
  const Ends ends = MakeEnds({}, {});
  TlsSession server(ends.server);
  TlsSession client(ends.client, "localhost");
  ASSERT_EQ(Shake(server, client).client, Step::kDone);
  ASSERT_EQ(client.Write("request"), Step::kDone);
  std::string sealed = client.output();
  sealed.back() = static_cast<char>(sealed.back() ^ 1);
  server.Feed(sealed);
  std::array<char, 16> into{};
  EXPECT_EQ(server.Read(into).step, Step::kFailed);
  EXPECT_FALSE(server.output().empty());
}

}  // namespace
}  // namespace sluice::net
