#include "redis/opening.h"

#include <fstream>
#include <iterator>
#include <utility>

#include "base/fault.h"

namespace sluice::redis {

Result<Credentials> ReadCredentials(const std::string& username, const std::string& password_file,
                                    const std::string& password) {
  Credentials credentials{.username = username, .password = password};
  if (!password_file.empty()) {
    std::ifstream file(password_file);
    credentials.password.assign(std::istreambuf_iterator<char>(file), {});
    if (!file) {
      return Fault("cannot read the password file " + password_file);
    }
    while (credentials.password.ends_with('\n') || credentials.password.ends_with('\r')) {
      credentials.password.pop_back();
    }
  }
  return credentials;
}

Opening::Opening(net::EventLoop& loop, const OpeningSettings& settings,
                 const net::DialTarget& target, OnDone on_done)
    : loop_(loop), settings_(settings), target_(target), on_done_(std::move(on_done)) {
  dial_ = net::Dial::Begin(loop_, target_, settings_.timeout,
                           [this](Result<std::unique_ptr<net::Transport>> transport) {
                             dial_ = nullptr;
                             OnDialed(std::move(transport));
                           });
}

Opening::~Opening() {
  if (dial_ != nullptr) {
    dial_->Cancel();
  }
  if (handshake_ != nullptr) {
    handshake_->Cancel();
  }
}

void Opening::OnDialed(Result<std::unique_ptr<net::Transport>> transport) {
  if (!transport || !settings_.tls) {
    Finish(std::move(transport));
    return;
  }
  auto context = settings_.tls();
  if (!context) {
    (*transport)->Close();
    Finish(tl::unexpected(context.error()));
    return;
  }
  const std::string& name = settings_.tls_name.empty() ? target_.host : settings_.tls_name;
  handshake_ = net::TlsHandshake::Begin(loop_, *std::move(transport), *std::move(context), name,
                                        settings_.timeout, nullptr,
                                        [this](Result<std::unique_ptr<net::Transport>> done) {
                                          handshake_ = nullptr;
                                          Finish(std::move(done));
                                        });
}

void Opening::Finish(Result<std::unique_ptr<net::Transport>> transport) {
  const OnDone done = std::move(on_done_);  // It may destroy this.
  done(std::move(transport));
}

}  // namespace sluice::redis
