#include "base/blake2s.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace sluice::base {
namespace {

std::string Hex(const Blake2s::Digest& digest) {
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += fmt::format("{:02x}", byte);
  }
  return text;
}

std::string Bytes(std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) {
    bytes += static_cast<char>(i);
  }
  return bytes;
}

TEST(Blake2sTest, HashesAsTheRfcsExample) {  // RFC 7693, appendix B.
  EXPECT_EQ(Hex(Blake2s::Of("abc")),
            "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982");
}

// From the reference implementation, over the bytes 0, 1, 2 ... of the given number.
TEST(Blake2sTest, HashesAsTheReferenceAroundBlockEdges) {
  const struct {
    std::size_t key_bytes;
    std::size_t bytes;
    const char* digest;
  } cases[] = {
      {0, 0, "69217a3079908094e11121d042354a7c1f55b6482ca1a51e1b250dfd1ed0eef9"},
      {0, 1, "e34d74dbaf4ff4c6abd871cc220451d2ea2648846c7757fbaac82fe51ad64bea"},
      {0, 63, "e57cb79487dd57902432b250733813bd96a84efce59f650fac26e6696aefafc3"},
      {0, 64, "56f34e8b96557e90c1f24b52d0c89d51086acf1b00f634cf1dde9233b8eaaa3e"},
      {0, 65, "1b53ee94aaf34e4b159d48de352c7f0661d0a40edff95a0b1639b4090e974472"},
      {0, 128, "1fa877de67259d19863a2a34bcc6962a2b25fcbf5cbecd7ede8f1fa36688a796"},
      {0, 129, "5bd169e67c82c2c2e98ef7008bdf261f2ddf30b1c00f9e7f275bb3e8a28dc9a2"},
      {0, 1000, "b5f9d7799111edafc9326fbf667be98140b5e20ce5e151793c59125bf654ac18"},
      {6, 0, "b0ee4495eed2f92e4f5b8950211b29aaefb1d33abd80ef48dfd0d4250f2401ee"},
      {6, 1, "d39dc88616e8e53e0ed91c79324b5e5a15471ce739c2edff16209daf88088da3"},
      {6, 63, "05a5a2246c81a6606140e8a977911f1a00ed1bf26f2c019922b11e22226d9409"},
      {6, 64, "0bf2075f1af96b6044e0815db737032c9e1670db86d7d1f92b6d13a25dbfb5f2"},
      {6, 65, "cd5d9b9544291fca161a76ce564b96a07f9747b25303ec334cdec37f98c41b4e"},
      {6, 128, "6663f557a40887d11599ddded90aaa40f6f1055a4c032af5c866151525372561"},
      {6, 129, "01a6b869402e2188b1e36d9ca9d000e202315d0affab48c409a96749ce718723"},
      {6, 1000, "fe4598290036738f6d5f92c72d87ab69c697a14b4e274e0b3be25b4cb7443948"},
      {32, 0, "48a8997da407876b3d79c0d92325ad3b89cbb754d86ab71aee047ad345fd2c49"},
      {32, 1, "40d15fee7c328830166ac3f918650f807e7e01e177258cdc0a39b11f598066f1"},
      {32, 63, "c65382513f07460da39833cb666c5ed82e61b9e998f4b0c4287cee56c3cc9bcd"},
      {32, 64, "8975b0577fd35566d750b362b0897a26c399136df07bababbde6203ff2954ed4"},
      {32, 65, "21fe0ceb0052be7fb0f004187cacd7de67fa6eb0938d927677f2398c132317a8"},
      {32, 128, "0c311f38c35a4fb90d651c289d486856cd1413df9b0677f53ece2cd9e477c60a"},
      {32, 129, "46a73a8dd3e70f59d3942c01df599def783c9da82fd83222cd662b53dce7dbdf"},
      {32, 1000, "5754feae2a6eefffae7d7c689f2405d1ec46c7e48a9c6187e71c5421a757b95d"},
  };
  for (const auto& each : cases) {
    const std::string bytes = Bytes(each.bytes);
    EXPECT_EQ(Hex(Blake2s(Bytes(each.key_bytes)).Update(bytes).Finish()), each.digest)
        << each.key_bytes << " " << each.bytes;
    Blake2s in_pieces(Bytes(each.key_bytes));
    for (std::size_t at = 0; at < bytes.size(); at += 7) {
      in_pieces.Update(std::string_view(bytes).substr(at, 7));
    }
    EXPECT_EQ(Hex(in_pieces.Finish()), each.digest);
  }
}

}  // namespace
}  // namespace sluice::base
