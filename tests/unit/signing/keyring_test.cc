#include "signing/keyring.h"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/manual_clock.h"

namespace sluice::signing {
namespace {

using std::chrono::hours;

constexpr TokenKind kKinds[] = {TokenKind::kHold, TokenKind::kReceipt, TokenKind::kReservation};
constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

class KeyringTest : public testing::Test {
 protected:
  static std::string Sealed(const Keyring& keys, std::string_view payload,
                            TokenKind kind = TokenKind::kReceipt) {
    std::string token;
    keys.Seal(kind, payload, token);
    return token;
  }
  Opened Open(const Keyring& keys, std::string_view token, TokenKind kind = TokenKind::kReceipt) {
    const Opened opened = keys.Open(kind, token, payload_);
    EXPECT_TRUE(opened == Opened::kGood || payload_.empty());
    return opened;
  }

  support::ManualClock clock_;
  const Secret own_ = Derive("this node", "");
  const Secret shared_ = Derive("all nodes", "");
  Keyring keys_{own_, clock_};
  std::string payload_;
};

TEST_F(KeyringTest, WhatIsSealedComesBackAsItWas) {
  const std::string all("any \0 bytes \xff", 13);
  for (const std::string& payload : {std::string(), std::string("x"), all}) {
    for (const TokenKind kind : kKinds) {
      EXPECT_EQ(Open(keys_, Sealed(keys_, payload, kind), kind), Opened::kGood);
      EXPECT_EQ(payload_, payload);
    }
  }
}

TEST_F(KeyringTest, OneKindIsNeverTakenForAnother) {
  for (const TokenKind sealed : kKinds) {
    for (const TokenKind asked : kKinds) {
      const Opened expected = sealed == asked ? Opened::kGood : Opened::kMalformed;
      EXPECT_EQ(Open(keys_, Sealed(keys_, "x", sealed), asked), expected);
    }
  }
}

// Not even one bit of it, wherever it is.
TEST_F(KeyringTest, NoLetterCanBeChangedAddedOrTakenAway) {
  const std::string token = Sealed(keys_, "a charge of 1 unit");
  for (std::size_t i = 0; i < token.size(); ++i) {
    for (const char letter : kLetters) {
      std::string edited = token;
      edited[i] = letter;
      if (edited != token) {
        EXPECT_NE(Open(keys_, edited), Opened::kGood) << i << letter;
      }
    }
    EXPECT_NE(Open(keys_, token.substr(0, i)), Opened::kGood) << i;
    EXPECT_NE(Open(keys_, token.substr(i + 1)), Opened::kGood) << i;
    EXPECT_NE(Open(keys_, token.substr(0, i) + token.substr(i + 1)), Opened::kGood) << i;
  }
  for (const char* more : {"=", "A", "AAAA", "!", " "}) {
    EXPECT_NE(Open(keys_, token + more), Opened::kGood) << more;
  }
}

TEST_F(KeyringTest, WhatAnotherSecretSealedIsForeign) {
  const Keyring other(shared_, clock_);
  EXPECT_EQ(Open(keys_, Sealed(other, "x")), Opened::kForeign);
  EXPECT_EQ(Open(other, Sealed(keys_, "x")), Opened::kForeign);
}

// The first version had no proof: "r", and then the charge.
TEST_F(KeyringTest, TokensWithoutAProofAreForged) {
  EXPECT_EQ(Open(keys_, "cgIAZncBAAEAdQUAc3BlbnQ"), Opened::kForged);
  EXPECT_EQ(Open(keys_, "cg"), Opened::kForged);
  EXPECT_EQ(Open(keys_, ""), Opened::kMalformed);
}

TEST_F(KeyringTest, KeysChangeByThemselvesAndInvalidateNothing) {
  const std::string first = Sealed(keys_, "x");
  clock_.Advance(hours(24 * 31));
  const std::string second = Sealed(keys_, "x");
  EXPECT_NE(first, second);
  EXPECT_NE(first.substr(first.size() - 21), second.substr(second.size() - 21));  // The proofs.
  clock_.Advance(hours(24 * 3'650));
  EXPECT_EQ(Open(keys_, first), Opened::kGood);
  EXPECT_EQ(Open(keys_, second), Opened::kGood);
  Keyring after_a_restart(own_, clock_);
  EXPECT_EQ(Open(after_a_restart, first), Opened::kGood);
}

TEST_F(KeyringTest, ANodeWhoseClockIsAMonthAheadIsUnderstoodAndNoMore) {
  support::ManualClock ahead;
  ahead.Advance(hours(24 * 30));
  Keyring other(own_, ahead);
  EXPECT_EQ(Open(keys_, Sealed(other, "x")), Opened::kGood);
  ahead.Advance(hours(24 * 30));
  EXPECT_EQ(Open(keys_, Sealed(other, "x")), Opened::kForged);
}

TEST_F(KeyringTest, NodesThatShareASecretTakeEachOthersTokens) {
  Keyring other(Derive("another node", ""), clock_);
  const std::string before = Sealed(keys_, "x");
  keys_.SetShared(shared_);
  other.SetShared(shared_);
  EXPECT_EQ(Open(other, Sealed(keys_, "x")), Opened::kGood);
  EXPECT_EQ(Open(keys_, Sealed(other, "x")), Opened::kGood);
  EXPECT_EQ(Open(keys_, before), Opened::kGood);  // This node's own still opens here.
  EXPECT_EQ(Open(other, before), Opened::kForeign);
}

TEST_F(KeyringTest, UntilTheSharedSecretIsThereNothingIsCalledForeign) {
  Keyring other(Derive("another node", ""), clock_);
  other.SetShared(shared_);
  const std::string token = Sealed(other, "x");
  keys_.AwaitShared();
  EXPECT_EQ(Open(keys_, token), Opened::kNotYet);
  EXPECT_EQ(Open(keys_, Sealed(keys_, "x")), Opened::kGood);
  std::string forged = Sealed(keys_, "x");
  forged.back() = forged.back() == 'A' ? 'Q' : 'A';
  EXPECT_NE(Open(keys_, forged), Opened::kGood);
  keys_.SetShared(Derive("yet another", ""));
  EXPECT_EQ(Open(keys_, token), Opened::kForeign);
  keys_.SetShared(shared_);
  EXPECT_EQ(Open(keys_, token), Opened::kGood);
}

TEST_F(KeyringTest, AReplacedSecretStillOpensWhatIsOut) {
  std::vector<std::string> tokens;
  for (std::size_t i = 0; i < Keyring::kMostShared; ++i) {
    keys_.SetShared(Derive("secret " + std::to_string(i), ""));
    tokens.push_back(Sealed(keys_, "x"));
  }
  for (const std::string& token : tokens) {
    EXPECT_EQ(Open(keys_, token), Opened::kGood);
  }
  keys_.SetShared(Derive("secret 0", ""));  // One that is known already replaces none.
  EXPECT_EQ(Sealed(keys_, "x"), tokens[0]);
  keys_.SetShared(Derive("one more", ""));
  EXPECT_EQ(Open(keys_, tokens[1]), Opened::kForeign);
  EXPECT_EQ(Open(keys_, tokens[0]), Opened::kGood);
}

}  // namespace
}  // namespace sluice::signing
