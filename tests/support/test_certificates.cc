#include "support/test_certificates.h"

#include <cstdlib>

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace sluice::support {
namespace {

void Need(bool done) {
  if (!done) {
    std::abort();
  }
}

template <class Write>
std::string Pem(const Write& write) {
  BIO* const bio = BIO_new(BIO_s_mem());
  Need(write(bio) == 1);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  std::string text(bytes, static_cast<std::size_t>(size));
  BIO_free(bio);
  return text;
}

void Extend(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  Need(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1);
  X509_EXTENSION_free(extension);
}

X509* Draft(const std::string& name, EVP_PKEY* key, X509* issuer, int days) {
  X509* const made = X509_new();
  Need(made != nullptr && X509_set_version(made, X509_VERSION_3) == 1);
  unsigned char serial[8];
  Need(RAND_bytes(serial, sizeof serial) == 1);
  serial[0] &= 0x7F;
  BIGNUM* const number = BN_bin2bn(serial, sizeof serial, nullptr);
  BN_to_ASN1_INTEGER(number, X509_get_serialNumber(made));
  BN_free(number);
  constexpr long kDay = 24L * 60 * 60;
  X509_gmtime_adj(X509_getm_notBefore(made), -2 * kDay);
  X509_gmtime_adj(X509_getm_notAfter(made), days * kDay);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(made, X509_get_subject_name(issuer == nullptr ? made : issuer));
  X509_set_pubkey(made, key);
  return made;
}

std::string CertificateText(X509* certificate) {
  return Pem([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate); });
}

}  // namespace

TestAuthority::TestAuthority(const std::string& name)
    : key_(EVP_EC_gen("P-256")), own_(Draft(name, key_, nullptr, 30)) {
  Extend(own_, own_, NID_basic_constraints, "critical,CA:TRUE");
  Extend(own_, own_, NID_key_usage, "critical,keyCertSign,cRLSign");
  Extend(own_, own_, NID_subject_key_identifier, "hash");
  Need(X509_sign(own_, key_, EVP_sha256()) != 0);
  certificate_ = CertificateText(own_);
}

TestAuthority::~TestAuthority() {
  X509_free(own_);
  EVP_PKEY_free(key_);
}

TestAuthority::Signed TestAuthority::Sign(const std::string& name, int days) const {
  EVP_PKEY* const key = EVP_EC_gen("P-256");
  X509* const made = Draft(name, key, own_, days);
  ASN1_OCTET_STRING* const address = a2i_IPADDRESS(name.c_str());
  Extend(made, own_, NID_subject_alt_name, (address == nullptr ? "DNS:" : "IP:") + name);
  ASN1_OCTET_STRING_free(address);
  Need(X509_sign(made, key_, EVP_sha256()) != 0);
  Signed result{CertificateText(made), Pem([&](BIO* bio) {
                  return PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
                })};
  X509_free(made);
  EVP_PKEY_free(key);
  return result;
}

}  // namespace sluice::support
