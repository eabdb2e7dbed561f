#include <utility>

#include "sources/etcd_messages.h"
#include "sources/etcd_rules.h"

// EtcdRules: what this node writes.
namespace sluice::sources {

std::int64_t EtcdRules::RevisionOf(const std::string& id) const {
  const auto found = snapshot_.documents.find(id);
  return found == snapshot_.documents.end() || state_ == State::kLost ? 0
                                                                      : found->second.mod_revision;
}

void EtcdRules::Put(const std::string& id, const std::string& text, OnWritten on_written) {
  auto write = std::make_unique<Write>();
  write->id = id;
  write->text = text;
  write->body = etcd::PutIfRequest(settings_.prefix + id, text, RevisionOf(id));
  write->on_written = std::move(on_written);
  BeginWrite(std::move(write));
}

void EtcdRules::Erase(const std::string& id, OnWritten on_written) {
  auto write = std::make_unique<Write>();
  write->id = id;
  write->body = etcd::EraseIfRequest(settings_.prefix + id, RevisionOf(id));
  write->on_written = std::move(on_written);
  BeginWrite(std::move(write));
}

void EtcdRules::BeginWrite(std::unique_ptr<Write> write) {
  Write& begun = *write;
  begun.endpoint = endpoint_;
  begun.attempts_left = settings_.endpoints.size();
  writes_.emplace(&begun, std::move(write));
  SendWrite(begun);
}

void EtcdRules::SendWrite(Write& write) {
  --write.attempts_left;
  gateway_.LogIn(write.endpoint, write.stream, [this, &write](EtcdGateway::Reply token) {
    if (!token) {
      OnWriteReply(write, tl::unexpected(std::move(token.error())));
      return;
    }
    write.stream = gateway_.Ask(
        gateway_.CallTo(write.endpoint, "/v3/kv/txn", write.body, *token),
        [this, &write](EtcdGateway::Reply reply) { OnWriteReply(write, std::move(reply)); });
  });
}

void EtcdRules::OnWriteReply(Write& write, EtcdGateway::Reply reply) {
  using Kind = WriteFailure::Kind;
  if (!reply && !reply.error().sent && write.attempts_left > 0) {
    write.endpoint = (write.endpoint + 1) % settings_.endpoints.size();
    SendWrite(write);
    return;
  }
  if (!reply) {
    EndWrite(write, tl::unexpected(
                        WriteFailure{.kind = reply.error().sent ? Kind::kUnknown : Kind::kRefused,
                                     .why = std::move(reply.error().message)}));
    return;
  }
  const auto txn = etcd::ReadTxn(*reply);
  if (!txn) {
    EndWrite(write,
             tl::unexpected(WriteFailure{.kind = Kind::kUnknown, .why = txn.error().message}));
    return;
  }
  if (!txn->succeeded) {
    EndWrite(write, tl::unexpected(WriteFailure{.kind = Kind::kChanged, .why = {}}));
    return;
  }
  FollowAfterLoss();
  // Later writes may have followed what the watch has reported.
  if (txn->revision > snapshot_.revision) {
    if (write.text) {
      snapshot_.documents.insert_or_assign(
          write.id, EtcdDocument{.text = *write.text, .mod_revision = txn->revision});
    } else {
      snapshot_.documents.erase(write.id);
    }
    Tell();
  } else {
    CatchUp();
  }
  EndWrite(write, {});
}

void EtcdRules::EndWrite(Write& write, tl::expected<void, WriteFailure> result) {
  const auto found = writes_.find(&write);
  const std::unique_ptr<Write> ended = std::move(found->second);
  writes_.erase(found);
  ended->on_written(std::move(result));
}

}  // namespace sluice::sources
