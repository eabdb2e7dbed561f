#include "otlp/sender.h"

#include <algorithm>

#include <fmt/format.h>
#include <zlib.h>

#include "base/display_text.h"
#include "net/event_loop.h"
#include "otlp/resource.h"

namespace sluice::otlp {

namespace {

constexpr Duration kFirstRest = std::chrono::seconds(1);
constexpr Duration kLongestRest = std::chrono::minutes(1);
constexpr std::size_t kMostColumns = 200;  // Of what an answer says, in the log.

// "Retryable" in OTLP's specification.
bool IsTemporary(int status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

// `text` as a gzip file (RFC 1952); "" if there is no memory.
std::string Gzip(std::string_view text) {
  constexpr int kGzipWindow = 15 + 16;  // zlib's way to ask for gzip's frame.
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return {};
  }
  std::string out(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // zlib only reads.
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const bool complete = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(complete ? out.size() - stream.avail_out : 0);
  deflateEnd(&stream);
  return out;
}

}  // namespace

Sender::Sender(net::EventLoop& loop, const Collector& collector, std::string_view target,
               OnEvent on_event)
    : loop_(loop),
      collector_(collector),
      target_(collector.path + std::string(target)),
      on_event_(std::move(on_event)),
      random_(base::UniqueNumber()),
      failed_early_([this] { Finish(Sent::kFailed, why_not_sent_); }) {}

Sender::~Sender() {
  if (request_ != nullptr) {
    request_->Cancel();
  }
}

Result<net::HttpStream::Call> Sender::CallOf(std::string message) const {
  net::HttpStream::Call call{.server = collector_.server, .target = target_, .body = {}};
  call.dial_timeout = call.answer_timeout = collector_.timeout;
  if (collector_.tls) {
    auto tls = collector_.tls();
    if (!tls) {
      return tl::unexpected(tls.error());
    }
    call.tls = *std::move(tls);
  }
  if (collector_.fields) {
    auto fields = collector_.fields();
    if (!fields) {
      return tl::unexpected(fields.error());
    }
    call.fields = *std::move(fields);
  }
  call.fields.emplace_back("Content-Type", "application/x-protobuf");
  call.fields.emplace_back("User-Agent", "sluice");
  std::string zipped = collector_.gzip ? Gzip(message) : std::string();
  if (!zipped.empty()) {
    call.fields.emplace_back("Content-Encoding", "gzip");
  }
  call.body = zipped.empty() ? std::move(message) : std::move(zipped);
  return call;
}

void Sender::Send(std::string message, OnDone on_done) {
  on_done_ = std::move(on_done);
  answer_.clear();
  auto call = CallOf(std::move(message));
  if (!call) {
    why_not_sent_ = call.error().Text();
    loop_.ArmAfter(failed_early_, Duration::zero());
    return;
  }
  request_ = net::HttpStream::Begin(
      loop_, *std::move(call),
      [this](int /*status*/, std::string_view piece) {
        answer_ += piece.substr(0, kMostAnswer - std::min(kMostAnswer, answer_.size()));
      },
      [this](tl::expected<int, net::HttpStream::Failure> end) {
        if (end) {
          OnEnd(*end);
        } else {
          Finish(Sent::kFailed, end.error().message);
        }
      });
}

void Sender::OnEnd(int status) {
  const auto said = [this] { return base::DisplayText(answer_, kMostColumns); };
  if (status >= 200 && status < 300) {
    const PartialSuccess partial = ReadPartialSuccess(answer_);
    Finish(partial.rejected > 0 ? Sent::kRejected : Sent::kTaken,
           partial.rejected > 0 ? fmt::format("it did not take {} items: {}", partial.rejected,
                                              base::DisplayText(partial.message, kMostColumns))
                                : std::string());
  } else {
    Finish(IsTemporary(status) ? Sent::kFailed : Sent::kRejected,
           fmt::format("it answered {}: {}", status, said()));
  }
}

void Sender::Finish(Sent result, std::string_view why) {
  counts_[static_cast<std::size_t>(result)].fetch_add(1, std::memory_order_relaxed);
  const std::string text(why);
  request_ = nullptr;
  if (result == Sent::kFailed) {
    const Duration rest = std::min(kLongestRest, kFirstRest * (1 << std::min(failures_, 6)));
    resume_at_ = std::chrono::steady_clock::now() +
                 Duration(random_.Between(rest.count() / 2, rest.count()));
    ++failures_;
  } else {
    failures_ = 0;
    resume_at_ = {};
  }
  if (result == Sent::kTaken && reported_) {
    on_event_(true, fmt::format("the collector takes {} again", target_));
  } else if (result != Sent::kTaken && !reported_) {
    on_event_(false, fmt::format("cannot export to {}{}: {}. Decisions continue, and Sluice keeps "
                                 "trying, at least once a minute",
                                 collector_.server.Text(), target_, text));
  }
  reported_ = result != Sent::kTaken;
  if (const OnDone on_done = std::exchange(on_done_, nullptr)) {
    on_done(result);
  }
}

}  // namespace sluice::otlp
