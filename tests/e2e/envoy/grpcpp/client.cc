// A client of grpc++, with messages that protoc generated, against a running daemon:
//
//   grpcpp_client HOST:PORT
//
// What it expects of the daemon's configuration is in grpcpp_test.py. Ends with 1 and says what is
// wrong on stderr; 0 if all is as it should be.
#include <chrono>
#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include "ratelimit.grpc.pb.h"
#include "rls.grpc.pb.h"

namespace {

namespace rls = envoy::service::ratelimit::v3;
using Code = rls::RateLimitResponse;

int g_failures = 0;

void Expect(bool truth, const std::string& what) {
  if (!truth) {
    std::fprintf(stderr, "not so: %s\n", what.c_str());
    ++g_failures;
  }
}

rls::RateLimitRequest Request(const std::string& key, const std::string& value) {
  rls::RateLimitRequest request;
  request.set_domain("d");
  auto* entry = request.add_descriptors()->add_entries();
  entry->set_key(key);
  entry->set_value(value);
  return request;
}

class Client {
 public:
  explicit Client(const std::string& target)
      : channel_(grpc::CreateChannel(target, grpc::InsecureChannelCredentials())),
        limits_(rls::RateLimitService::NewStub(channel_)),
        checks_(sluice::v1::RateLimit::NewStub(channel_)) {}

  void EveryFieldIsRead() {
    auto request = Request("year", "x");
    request.mutable_descriptors(0)->mutable_hits_addend()->set_value(2);
    auto* override = request.add_descriptors();
    override->add_entries()->set_key("any");
    override->mutable_limit()->set_requests_per_unit(7);
    override->mutable_limit()->set_unit(3);
    auto* unlimited = request.add_descriptors()->add_entries();
    unlimited->set_key("free");
    request.add_descriptors()->add_entries()->set_key("unknown");
    const rls::RateLimitResponse response = Ask(request);
    Expect(response.overall_code() == Code::OK, "two of three pass");
    Expect(response.statuses_size() == 4, "a status for each descriptor");
    const auto& year = response.statuses(0);
    Expect(year.current_limit().requests_per_unit() == 3, "3 a year");
    Expect(year.current_limit().unit() == Code::RateLimit::YEAR, "a year");
    Expect(year.current_limit().name() == "yearly", "its name");
    Expect(year.limit_remaining() == 1, "one of them left");
    const auto until = year.duration_until_reset();
    Expect(until.seconds() > 0 && until.seconds() <= 31'536'000 && until.nanos() == 0,
           "the end of the year");
    Expect(response.statuses(1).current_limit().requests_per_unit() == 7, "the override");
    Expect(response.statuses(1).current_limit().unit() == Code::RateLimit::HOUR, "an hour");
    Expect(!response.statuses(2).has_current_limit(), "unlimited has no limit");
    Expect(response.statuses(2).limit_remaining() == 4'294'967'295U, "unlimited leaves all");
    Expect(!response.statuses(3).has_current_limit(), "unknown has no limit");
    Expect(response.response_headers_to_add_size() == 5, "five headers");
    Expect(response.response_headers_to_add(0).key() == "RateLimit-Limit", "the first one");
    Expect(response.response_headers_to_add(0).value() == "3", "of the year's limit");
    Expect(response.response_headers_to_add(3).key() == "RateLimit-Policy", "the draft's");
    const auto& metadata = response.dynamic_metadata().fields();
    Expect(metadata.at("domain").string_value() == "d", "the domain as metadata");
    const auto& merged = metadata.at("metadata").struct_value().fields();
    Expect(merged.at("team").string_value() == "one", "the limit's metadata");
    Expect(merged.at("size").number_value() == 1.5, "a number of it");

    request = Request("year", "x");
    request.set_hits_addend(2);
    Expect(Ask(request).overall_code() == Code::OVER_LIMIT, "two more do not fit");
    request.mutable_descriptors(0)->mutable_hits_addend()->set_value(9);
    request.mutable_descriptors(0)->set_is_negative_hits(true);
    Expect(Ask(request).statuses(0).limit_remaining() == 3, "all hits taken back");
  }

  // Many calls at once on one connection, as a proxy sends them.
  void CallsInFlightAreExact() {
    struct Call {
      grpc::ClientContext context;
      rls::RateLimitResponse response;
      grpc::Status status;
      std::unique_ptr<grpc::ClientAsyncResponseReader<rls::RateLimitResponse>> reader;
    };
    constexpr int kCalls = 2'000;
    constexpr int kLimit = 500;
    grpc::CompletionQueue queue;
    std::deque<Call> calls(kCalls);
    const auto request = Request("many", "x");
    for (Call& call : calls) {
      call.reader = limits_->AsyncShouldRateLimit(&call.context, request, &queue);
      call.reader->Finish(&call.response, &call.status, &call);
    }
    int allowed = 0;
    int failed = 0;
    for (int i = 0; i < kCalls; ++i) {
      void* tag = nullptr;
      bool ok = false;
      Expect(queue.Next(&tag, &ok) && ok, "an answer for each call");
      const auto* call = static_cast<Call*>(tag);
      failed += call->status.ok() ? 0 : 1;
      allowed += call->response.overall_code() == Code::OK ? 1 : 0;
    }
    Expect(failed == 0, "no call failed");
    Expect(allowed == kLimit, "500 of 2,000 pass, and not " + std::to_string(allowed));
  }

  void CompressedRequestsAreRead() {
    grpc::ClientContext context;
    context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
    rls::RateLimitResponse response;
    const auto request = Request("many", std::string(1'000, 'y'));
    const grpc::Status status = limits_->ShouldRateLimit(&context, request, &response);
    Expect(status.ok() && response.overall_code() == Code::OK, "a gzipped request");
  }

  void ErrorsHaveTheirCodes() {
    grpc::ClientContext context;
    rls::RateLimitResponse response;
    grpc::Status status = limits_->ShouldRateLimit(&context, {}, &response);
    Expect(status.error_code() == grpc::StatusCode::UNKNOWN, "UNKNOWN, as before");
    Expect(status.error_message() == "rate limit domain must not be empty", "its text");

    grpc::ClientContext late;
    late.set_deadline(std::chrono::system_clock::now() - std::chrono::seconds(1));
    status = limits_->ShouldRateLimit(&late, Request("year", "z"), &response);
    Expect(status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED, "a deadline that is over");

    grpc::GenericStub generic(channel_);
    grpc::CompletionQueue queue;
    grpc::ClientContext unknown;
    grpc::ByteBuffer answer;
    const auto call = generic.PrepareUnaryCall(&unknown, "/a.B/C", {}, &queue);
    call->StartCall();
    call->Finish(&answer, &status, this);
    void* tag = nullptr;
    bool ok = false;
    (void)queue.Next(&tag, &ok);
    Expect(status.error_code() == grpc::StatusCode::UNIMPLEMENTED, "a method that there is not");
  }

  void OurOwnServiceAnswers() {
    sluice::v1::CheckRequest request;
    (*request.mutable_attributes())["user_id"] = "u";
    request.set_cost(3);
    const auto ask = [&] {
      grpc::ClientContext context;
      sluice::v1::CheckResponse response;
      const grpc::Status status = checks_->Check(&context, request, &response);
      Expect(status.ok(), "a check: " + status.error_message());
      return response;
    };
    const auto first = ask();
    Expect(first.allowed() && first.remaining() == 1 && first.rule() == "four", "3 of 4");
    const auto second = ask();
    Expect(!second.allowed() && second.reason() == "quota_exceeded", "not 3 more");
    Expect(second.retry_after().seconds() > 0, "when to come back");
    Expect(second.decisions_size() == 1 && second.decisions(0).limit() == 4, "its decisions");
  }

 private:
  rls::RateLimitResponse Ask(const rls::RateLimitRequest& request) {
    grpc::ClientContext context;
    rls::RateLimitResponse response;
    const grpc::Status status = limits_->ShouldRateLimit(&context, request, &response);
    Expect(status.ok(), "a call: " + status.error_message());
    return response;
  }

  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<rls::RateLimitService::Stub> limits_;
  std::unique_ptr<sluice::v1::RateLimit::Stub> checks_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: grpcpp_client HOST:PORT\n", stderr);
    return 2;
  }
  Client client(argv[1]);
  client.EveryFieldIsRead();
  client.CallsInFlightAreExact();
  client.CompressedRequestsAreRead();
  client.ErrorsHaveTheirCodes();
  client.OurOwnServiceAnswers();
  return g_failures == 0 ? 0 : 1;
}
