#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "net/tls_context.h"

struct ssl_st;  // OpenSSL's SSL.

namespace sluice::net {

// One end of a TLS connection without the connection: sealed bytes go in and come out as
// memory, so that a whole turn's records leave in one write, and tests need no socket.
//
//   handshake:  Feed(), Handshake() until kDone;  from then on Feed(), Read(), Write()
//
// Whatever it has to say to the other end (answers, handshake, alerts) collects in output().
// One thread.
class TlsSession {
 public:
  enum class Step : std::uint8_t {
    kDone,
    kNeedsInput,  // All that was fed is used up.
    kEnded,       // The other end said that no more comes.
    kFailed,      // failure() says why. An alert for the other end may be in output().
  };

  // `server_name`, for a client: who the server's certificate must belong to (a name, or an
  // address in its canonical text). Names also tell the server who is asked for (SNI). Ignored
  // by a server, and "" where the context does not verify may stay so.
  explicit TlsSession(std::shared_ptr<const TlsContext> context, std::string_view server_name = {});
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  // Sealed bytes that came. They stay put until they are used up, which a step says with
  // kNeedsInput; before that nothing more may be fed.
  void Feed(std::span<const char> sealed);

  [[nodiscard]] Step Handshake();

  // Opens into `into` as much as there is: kDone with at least one byte, otherwise the reason.
  struct Opened {
    Step step;
    std::size_t size;
  };
  [[nodiscard]] Opened Read(std::span<char> into);

  // Seals all of `bytes` into output(): kDone or kFailed. Requires a finished handshake.
  [[nodiscard]] Step Write(std::string_view bytes);

  // Tells the other end that no more comes. Reading goes on.
  void ShutdownWrite();

  [[nodiscard]] std::string& output() { return output_; }
  // What ALPN agreed on: "h2"; "" for nothing. Valid after the handshake.
  [[nodiscard]] std::string_view protocol() const;
  // "certificate verify failed: self-signed certificate".
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  friend struct TlsSessionBio;

  // Of a client: the server's certificate must be this name's or address's.
  void Expect(const std::string& name);
  Step StepOf(int returned);

  const std::shared_ptr<const TlsContext> context_;
  ssl_st* const ssl_;
  std::span<const char> input_;
  std::string output_;
  std::string failure_;
};

}  // namespace sluice::net
