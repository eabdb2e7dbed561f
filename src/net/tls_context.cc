#include "net/tls_context.h"

#include <ctime>
#include <limits>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "base/assert.h"
#include "base/fault.h"

namespace sluice::net {
namespace {

// For TLS 1.2; the suites of 1.3 are all of this kind. What HTTP/2 demands (RFC 9113, 9.2.2).
constexpr const char* kSuites =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"
    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"
    "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";
// The most that a client may send as its chain of certificates. OpenSSL's own bound is 100 KiB.
constexpr long kMostChainBytes = 32 * 1024;

template <class T, void (*Free)(T*)>
struct Freed {
  void operator()(T* object) const { Free(object); }
};
using BioPtr = std::unique_ptr<BIO, Freed<BIO, BIO_free_all>>;
using X509Ptr = std::unique_ptr<X509, Freed<X509, X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY, EVP_PKEY_free>>;

tl::unexpected<Error> Refuse(const PemFile& file, std::string why) {
  return FileFault(file.path, std::move(why));
}

// Why OpenSSL said no, in its words; its queue of errors is empty afterwards.
std::string Why() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = ERR_reason_error_string(code);
  return reason == nullptr ? "no reason given" : reason;
}

BioPtr Open(const PemFile& file) {
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<int>::max());
  SLUICE_ASSERT(file.text.size() < kMost);
  return BioPtr(BIO_new_mem_buf(file.text.data(), static_cast<int>(file.text.size())));
}

// Never asks the terminal.
int NoPassphrase(char*, int, int, void*) {
  return 0;
}

// All certificates of a file, in its order; at least one.
Result<std::vector<X509Ptr>> ReadCertificates(const PemFile& file) {
  std::vector<X509Ptr> all;
  const BioPtr bio = Open(file);
  while (X509* one = PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr)) {
    all.emplace_back(one);
  }
  const unsigned long code = ERR_peek_last_error();
  const bool ended =
      ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
  if (!ended) {
    return Refuse(file, fmt::format("certificate {} cannot be read: {}", all.size() + 1, Why()));
  }
  ERR_clear_error();
  if (all.empty()) {
    return Refuse(file,
                  "holds no certificate in PEM form: it should have a line "
                  "-----BEGIN CERTIFICATE-----");
  }
  return all;
}

Result<KeyPtr> ReadKey(const PemFile& file) {
  const BioPtr bio = Open(file);
  KeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassphrase, nullptr));
  if (key != nullptr) {
    ERR_clear_error();
    return key;
  }
  const std::string why = Why();
  if (file.text.find("ENCRYPTED") != std::string::npos) {
    return Refuse(file,
                  "the key is encrypted, and a daemon cannot ask for the passphrase: decrypt it "
                  "with `openssl pkey -in FILE -out PLAIN`");
  }
  if (file.text.find("PRIVATE KEY-----") == std::string::npos) {
    return Refuse(file,
                  "holds no private key in PEM form: it should have a line "
                  "-----BEGIN PRIVATE KEY-----");
  }
  return Refuse(file, "the private key cannot be read: " + why);
}

std::optional<WallInstant> EndOf(const X509* certificate) {
  std::tm when{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &when) != 1) {
    return std::nullopt;
  }
  return WallInstant(std::chrono::seconds(::timegm(&when)));
}

// Picks the first of our protocols that the client offers too.
int ChooseProtocol(SSL*, const unsigned char** chosen, unsigned char* chosen_size,
                   const unsigned char* offered, unsigned int offered_size, void* context) {
  const std::string& ours = static_cast<const TlsContext*>(context)->protocols();
  unsigned char* pick = nullptr;
  if (SSL_select_next_proto(&pick, chosen_size, reinterpret_cast<const unsigned char*>(ours.data()),
                            static_cast<unsigned>(ours.size()), offered,
                            offered_size) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;  // RFC 7301, section 3.2.
  }
  *chosen = pick;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

TlsContext::TlsContext(bool is_server)
    : is_server_(is_server),
      context_(SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method())) {
  SLUICE_ASSERT(context_ != nullptr);
  SSL_CTX_set_min_proto_version(context_, TLS1_2_VERSION);
  const int suites = SSL_CTX_set_cipher_list(context_, kSuites);
  const long groups = SSL_CTX_set1_groups_list(context_, "X25519:P-256:P-384");
  SLUICE_ASSERT(suites == 1 && groups == 1);
  SSL_CTX_set_options(context_, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                    SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  // An idle connection should not hold 32 KiB of record buffers.
  SSL_CTX_set_mode(context_, SSL_MODE_RELEASE_BUFFERS);
  // All that has come is taken in one go, not a record's header first.
  SSL_CTX_set_read_ahead(context_, 1);
  SSL_CTX_set_max_cert_list(context_, kMostChainBytes);
  // Clients resume with tickets, which are theirs to keep; keys of tickets are the context's, so
  // that none outlives its certificate or the trust in a client's.
  SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_OFF);
}

TlsContext::~TlsContext() {
  SSL_CTX_free(context_);
}

Result<void> TlsContext::SetProtocols(const std::vector<std::string>& protocols) {
  for (const std::string& protocol : protocols) {
    SLUICE_ASSERT(!protocol.empty() && protocol.size() < 256);
    protocols_ += static_cast<char>(protocol.size());
    protocols_ += protocol;
  }
  if (!protocols_.empty() && is_server_) {
    SSL_CTX_set_alpn_select_cb(context_, ChooseProtocol, this);
  } else if (!protocols_.empty()) {
    const int failed =
        SSL_CTX_set_alpn_protos(context_, reinterpret_cast<const unsigned char*>(protocols_.data()),
                                static_cast<unsigned>(protocols_.size()));
    SLUICE_ASSERT(failed == 0);
  }
  return {};
}

Result<void> TlsContext::UseCertificate(const PemFile& certificate, const PemFile& key) {
  auto chain = ReadCertificates(certificate);
  if (!chain) {
    return tl::unexpected(chain.error());
  }
  X509* const own = chain->front().get();
  if (SSL_CTX_use_certificate(context_, own) != 1) {
    return Refuse(certificate, fmt::format("the certificate is not fit for TLS: {}", Why()));
  }
  for (std::size_t i = 1; i < chain->size(); ++i) {
    if (SSL_CTX_add1_chain_cert(context_, (*chain)[i].get()) != 1) {
      return Refuse(certificate,
                    fmt::format("certificate {} is not fit for TLS: {}", i + 1, Why()));
    }
  }
  auto private_key = ReadKey(key);
  if (!private_key) {
    return tl::unexpected(private_key.error());
  }
  if (X509_check_private_key(own, private_key->get()) != 1 ||
      SSL_CTX_use_PrivateKey(context_, private_key->get()) != 1) {
    ERR_clear_error();
    return Refuse(key, fmt::format("is not the key of the first certificate in {}: give the key "
                                   "that the certificate was made for, and put the server's own "
                                   "certificate first",
                                   certificate.path));
  }
  not_after_ = EndOf(own);
  return {};
}

Result<void> TlsContext::Trust(const PemFile& ca) {
  auto all = ReadCertificates(ca);
  if (!all) {
    return tl::unexpected(all.error());
  }
  for (const X509Ptr& one : *all) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context_), one.get()) != 1 ||
        (is_server_ && SSL_CTX_add_client_CA(context_, one.get()) != 1)) {
      return Refuse(ca, "cannot be trusted: " + Why());
    }
  }
  return {};
}

Result<std::shared_ptr<const TlsContext>> TlsContext::Server(const TlsServerSettings& settings) {
  std::shared_ptr<TlsContext> made(new TlsContext(/*is_server=*/true));
  SSL_CTX* const context = made->context_;
  Result<void> done = made->UseCertificate(settings.certificate, settings.key);
  if (done) {
    done = made->SetProtocols(settings.protocols);
  }
  if (done && settings.client_ca) {
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    constexpr unsigned char kName[] = "sluice";  // Else a client with a certificate cannot resume.
    SSL_CTX_set_session_id_context(context, kName, sizeof kName);
    done = made->Trust(*settings.client_ca);
    X509_VERIFY_PARAM* const expected = SSL_CTX_get0_param(context);
    const std::string& name = settings.client_name;
    if (!name.empty() && X509_VERIFY_PARAM_set1_ip_asc(expected, name.c_str()) != 1) {
      X509_VERIFY_PARAM_set_hostflags(
          expected, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
      const int set = X509_VERIFY_PARAM_set1_host(expected, name.data(), name.size());
      SLUICE_ASSERT(set == 1);
    }
  }
  if (!done) {
    return tl::unexpected(done.error());
  }
  return made;
}

Result<std::shared_ptr<const TlsContext>> TlsContext::Client(const TlsClientSettings& settings) {
  std::shared_ptr<TlsContext> made(new TlsContext(/*is_server=*/false));
  SSL_CTX* const context = made->context_;
  made->verifies_name_ = settings.verify_name;
  SSL_CTX_set_verify(context, settings.verify_server ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  Result<void> done = made->SetProtocols(settings.protocols);
  if (settings.certificate.has_value() != settings.key.has_value()) {
    done = Fault("a certificate and its key go together: give both");
  } else if (settings.certificate) {
    done = made->UseCertificate(*settings.certificate, *settings.key);
  }
  if (done && settings.ca) {
    done = made->Trust(*settings.ca);
  } else if (done && settings.verify_server && SSL_CTX_set_default_verify_paths(context) != 1) {
    done = Fault("the system's trusted certificates cannot be read: " + Why() + "; set a ca");
  }
  if (!done) {
    return tl::unexpected(done.error());
  }
  return made;
}

}  // namespace sluice::net
