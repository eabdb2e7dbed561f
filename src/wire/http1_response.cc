#include "wire/http1_response.h"

#include <algorithm>
#include <chrono>

#include "base/assert.h"
#include "wire/text_appender.h"

namespace sluice::wire {
namespace {

void AppendTwoDigits(std::string& out, unsigned number) {
  out.push_back(static_cast<char>('0' + number / 10));
  out.push_back(static_cast<char>('0' + number % 10));
}

}  // namespace

std::string_view StatusPhrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 204:
      return "No Content";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Unknown";
  }
}

Http1Response::Http1Response(std::string& out, const Http1ResponseHead& head)
    : out_(out), head_only_(head.head_only) {
  SLUICE_DCHECK(head.status >= 100 && head.status <= 599);
  TextAppender line(out_);
  if (head.status == 200) {
    line.Add("HTTP/1.1 200 OK\r\n");
  } else {
    line.Add("HTTP/1.1 ").Add(head.status).Add(" ").Add(StatusPhrase(head.status)).Add("\r\n");
  }
  if (!head.date.empty()) {
    line.Add("Date: ").Add(head.date).Add("\r\n");
  }
  if (!head.keep_alive) {
    line.Add("Connection: close\r\n");
  } else if (head.minor_version == 0) {
    line.Add("Connection: keep-alive\r\n");
  }
}

Http1Response& Http1Response::Field(std::string_view name, std::string_view value) {
  out_.append(name);
  out_.append(": ");
  const std::size_t start = out_.size();
  out_.append(value);
  std::replace_if(
      out_.begin() + static_cast<std::ptrdiff_t>(start), out_.end(),
      [](char c) { return c == '\r' || c == '\n' || c == '\0'; }, ' ');
  out_.append("\r\n");
  return *this;
}

void Http1Response::Finish(std::string_view content_type, std::string_view body) {
  TextAppender end(out_);
  if (!content_type.empty()) {
    end.Add("Content-Type: ").Add(content_type).Add("\r\n");
  }
  end.Add("Content-Length: ").Add(static_cast<std::int64_t>(body.size())).Add("\r\n\r\n");
  if (!head_only_) {
    end.Add(body);
  }
}

std::string_view DateText::At(std::int64_t unix_seconds) {
  if (unix_seconds == second_) {
    return text_;
  }
  second_ = unix_seconds;
  static constexpr std::string_view kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::string_view kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::chrono::sys_seconds time{std::chrono::seconds(unix_seconds)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const auto second_of_day = static_cast<unsigned>((time - day).count());
  text_.clear();
  text_.append(kDays[std::chrono::weekday(day).c_encoding()]);
  text_.append(", ");
  AppendTwoDigits(text_, static_cast<unsigned>(date.day()));
  text_.push_back(' ');
  text_.append(kMonths[static_cast<unsigned>(date.month()) - 1]);
  text_.push_back(' ');
  const auto year = static_cast<unsigned>(static_cast<int>(date.year()));
  AppendTwoDigits(text_, year / 100);
  AppendTwoDigits(text_, year % 100);
  text_.push_back(' ');
  AppendTwoDigits(text_, second_of_day / 3600);
  text_.push_back(':');
  AppendTwoDigits(text_, second_of_day / 60 % 60);
  text_.push_back(':');
  AppendTwoDigits(text_, second_of_day % 60);
  text_.append(" GMT");
  return text_;
}

}  // namespace sluice::wire
