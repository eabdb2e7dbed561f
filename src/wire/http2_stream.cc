#include "wire/http2_stream.h"

namespace sluice::wire {
namespace {

// The memory of an unusually large request or answer is not reused for the next one.
constexpr std::size_t kMostTextKept = 32 * 1024;

void Shrink(std::string& text) {
  text.clear();
  if (text.capacity() > kMostTextKept) {
    text.shrink_to_fit();
  }
}

}  // namespace

void Http2Stream::Begin(std::int32_t id) {
  context = nullptr;
  id_ = id;
  request_.method = HttpMethod::kOther;
  request_.method_text = {};
  request_.target = {};
  request_.path = {};
  request_.query = {};
  request_.fields.clear();
  fault_ = Http2Fault::kNone;
  Shrink(text_);
  extents_.clear();
  header_bytes_ = 0;
  header_done_ = false;
  request_done_ = false;
  unconsumed_ = 0;
  Shrink(answer_text_);
  Shrink(trailer_text_);
  trailers_.clear();
  Shrink(body_);
  sent_ = 0;
  answered_ = false;
  finished_ = false;
  deferred_ = false;
}

void Http2Stream::AddField(std::string_view name, std::string_view value,
                           const Http2Limits& limits) {
  constexpr std::size_t kOverhead = 32;
  constexpr std::size_t kPseudoFields = 4;
  header_bytes_ += name.size() + value.size() + kOverhead;
  if (header_bytes_ > limits.header_bytes || extents_.size() >= limits.fields + kPseudoFields) {
    fault_ = Http2Fault::kHeaderTooLarge;
    return;
  }
  extents_.push_back({.name = text_.size(),
                      .name_size = name.size(),
                      .value = text_.size() + name.size(),
                      .value_size = value.size()});
  text_.append(name).append(value);
}

void Http2Stream::FinishHeader() {
  header_done_ = true;
  const std::string_view text = text_;
  for (const Extent& extent : extents_) {
    const std::string_view name = text.substr(extent.name, extent.name_size);
    const std::string_view value = text.substr(extent.value, extent.value_size);
    if (!name.starts_with(':')) {
      request_.fields.push_back({name, value});
    } else if (name == ":method") {
      request_.method_text = value;
      request_.method = MethodOf(value);
    } else if (name == ":path") {
      request_.target = value;
    } else if (name == ":authority") {
      request_.fields.push_back({"host", value});
    }
  }
  if (!SplitTarget(request_) && fault_ == Http2Fault::kNone) {
    fault_ = Http2Fault::kBadTarget;
  }
}

}  // namespace sluice::wire
