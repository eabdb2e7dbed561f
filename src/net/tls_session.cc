#include "net/tls_session.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include "base/assert.h"

namespace sluice::net {

// OpenSSL's view of the connection: it reads what was fed and writes to the output, in place.
// The standard memory BIO would copy everything once more each way.
struct TlsSessionBio {
  static TlsSession& SessionOf(BIO* bio) { return *static_cast<TlsSession*>(BIO_get_data(bio)); }

  static int Read(BIO* bio, char* into, std::size_t size, std::size_t* got) {
    std::span<const char>& input = SessionOf(bio).input_;
    BIO_clear_retry_flags(bio);
    if (input.empty()) {
      BIO_set_retry_read(bio);
      return 0;
    }
    *got = std::min(size, input.size());
    std::memcpy(into, input.data(), *got);
    input = input.subspan(*got);
    return 1;
  }

  static int Write(BIO* bio, const char* bytes, std::size_t size, std::size_t* taken) {
    BIO_clear_retry_flags(bio);
    SessionOf(bio).output_.append(bytes, size);
    *taken = size;
    return 1;
  }

  static long Control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

  static int Create(BIO* bio) {
    BIO_set_init(bio, 1);
    return 1;
  }

  // Made once for the process, like everything of OpenSSL's that names a kind; immutable.
  static const BIO_METHOD* Method() {
    static const BIO_METHOD* const method = [] {
      BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "sluice");
      SLUICE_ASSERT(made != nullptr);
      BIO_meth_set_read_ex(made, Read);
      BIO_meth_set_write_ex(made, Write);
      BIO_meth_set_ctrl(made, Control);
      BIO_meth_set_create(made, Create);
      return made;
    }();
    return method;
  }
};

TlsSession::TlsSession(std::shared_ptr<const TlsContext> context, std::string_view server_name)
    : context_(std::move(context)), ssl_(SSL_new(context_->native())) {
  SLUICE_ASSERT(ssl_ != nullptr);
  BIO* const bio = BIO_new(TlsSessionBio::Method());
  SLUICE_ASSERT(bio != nullptr);
  BIO_set_data(bio, this);
  SSL_set_bio(ssl_, bio, bio);
  if (context_->is_server()) {
    SSL_set_accept_state(ssl_);
    return;
  }
  SSL_set_connect_state(ssl_);
  Expect(std::string(server_name));
  if (!context_->verifies_name()) {  // It was sent the expected name, and may be any server.
    X509_VERIFY_PARAM* const expected = SSL_get0_param(ssl_);
    X509_VERIFY_PARAM_set1_ip(expected, nullptr, 0);
    X509_VERIFY_PARAM_set1_host(expected, nullptr, 0);
  }
}

void TlsSession::Expect(const std::string& name) {
  X509_VERIFY_PARAM* const expected = SSL_get0_param(ssl_);
  if (name.empty() || X509_VERIFY_PARAM_set1_ip_asc(expected, name.c_str()) == 1) {
    return;
  }
  ERR_clear_error();  // It is no address.
  SSL_set_hostflags(ssl_, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (SSL_set1_host(ssl_, name.c_str()) != 1 || SSL_set_tlsext_host_name(ssl_, name.c_str()) != 1) {
    failure_ = "`" + name + "` is not a server name";
    ERR_clear_error();
  }
}

TlsSession::~TlsSession() {
  SSL_free(ssl_);
}

void TlsSession::Feed(std::span<const char> sealed) {
  SLUICE_DCHECK(input_.empty());
  input_ = sealed;
}

TlsSession::Step TlsSession::StepOf(int returned) {
  const int error = SSL_get_error(ssl_, returned);
  switch (error) {
    case SSL_ERROR_NONE:
      return Step::kDone;
    case SSL_ERROR_WANT_READ:
      return Step::kNeedsInput;
    case SSL_ERROR_ZERO_RETURN:
      return Step::kEnded;
    default:
      break;
  }
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  failure_ = reason == nullptr ? "the TLS connection broke" : reason;
  if (const long verified = SSL_get_verify_result(ssl_); verified != X509_V_OK) {
    failure_ += ": ";
    failure_ += X509_verify_cert_error_string(verified);
  }
  ERR_clear_error();
  return Step::kFailed;
}

TlsSession::Step TlsSession::Handshake() {
  if (!failure_.empty()) {
    return Step::kFailed;
  }
  const int returned = SSL_do_handshake(ssl_);
  return returned == 1 ? Step::kDone : StepOf(returned);
}

// A record holds at most 16 KiB and often a single request: continue until `into` is full, so that
// many small records are still judged in one turn.
TlsSession::Opened TlsSession::Read(std::span<char> into) {
  if (!failure_.empty()) {
    return {Step::kFailed, 0};
  }
  std::size_t size = 0;
  while (size < into.size()) {
    std::size_t got = 0;
    const int returned = SSL_read_ex(ssl_, into.data() + size, into.size() - size, &got);
    if (returned != 1) {
      [[maybe_unused]] const Step step = StepOf(returned);
      return size > 0 ? Opened{Step::kDone, size} : Opened{step, 0};
    }
    size += got;
  }
  return {Step::kDone, size};
}

TlsSession::Step TlsSession::Write(std::string_view bytes) {
  if (!failure_.empty()) {
    return Step::kFailed;
  }
  if (bytes.empty()) {
    return Step::kDone;
  }
  std::size_t taken = 0;
  const int returned = SSL_write_ex(ssl_, bytes.data(), bytes.size(), &taken);
  if (returned != 1) {
    // The output takes everything, so it cannot be that it has to wait.
    [[maybe_unused]] const Step step = StepOf(returned);
    if (failure_.empty()) {
      failure_ = "written before the handshake was done";
    }
    SLUICE_DCHECK(step != Step::kNeedsInput);
    return Step::kFailed;
  }
  SLUICE_DCHECK(taken == bytes.size());
  return Step::kDone;
}

void TlsSession::ShutdownWrite() {
  if (failure_.empty()) {
    (void)SSL_shutdown(ssl_);
    ERR_clear_error();
  }
}

std::string_view TlsSession::protocol() const {
  const unsigned char* chosen = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(ssl_, &chosen, &size);
  return {reinterpret_cast<const char*>(chosen), size};
}

}  // namespace sluice::net
