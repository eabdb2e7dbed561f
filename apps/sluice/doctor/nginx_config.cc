#include "doctor/nginx_config.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace sluice::app::doctor {

namespace {

constexpr int kDeepest = 32;  // Blocks within blocks.

class NginxReader {
 public:
  NginxReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Result<std::vector<NginxDirective>> Read(int depth) {
    std::vector<NginxDirective> directives;
    NginxDirective next;
    while (true) {
      SkipBlanks();
      if (text_.empty() || text_.front() == '}') {
        const bool closes = !text_.empty();
        if (closes != (depth > 0) || !next.name.empty()) {
          return Fail(closes ? "a } closes nothing, or a ; is missing before it"
                             : "the file ends within a block or a directive");
        }
        Drop(closes ? 1 : 0);
        return directives;
      }
      if (text_.front() == ';') {
        Drop(1);
        directives.push_back(std::exchange(next, {}));
      } else if (text_.front() == '{') {
        Drop(1);
        if (depth >= kDeepest) {
          return Fail("blocks are nested too deeply");
        }
        auto inside = Read(depth + 1);
        if (!inside) {
          return inside;
        }
        next.is_block = true;
        next.inside = *std::move(inside);
        directives.push_back(std::exchange(next, {}));
      } else {
        const int line = line_;
        std::string word = TakeWord();
        if (next.name.empty()) {
          next.name = std::move(word);
          next.line = line;
        } else {
          next.arguments.push_back(std::move(word));
        }
      }
    }
  }

 private:
  tl::unexpected<Error> Fail(std::string message) const {
    return tl::unexpected(Error{.message = std::move(message), .place = {file_, line_, 1}});
  }
  void Drop(std::size_t count) {
    line_ +=
        static_cast<int>(std::count(text_.begin(), text_.begin() + static_cast<long>(count), '\n'));
    text_.remove_prefix(count);
  }
  void SkipBlanks() {
    while (!text_.empty()) {
      if (text_.front() == '#') {
        Drop(std::min(text_.find('\n'), text_.size()));
      } else if (std::isspace(static_cast<unsigned char>(text_.front())) != 0) {
        Drop(1);
      } else {
        return;
      }
    }
  }
  // A word, or a text in quotes. "${name}" does not open a block.
  std::string TakeWord() {
    std::string word;
    const char quote = text_.front() == '"' || text_.front() == '\'' ? text_.front() : '\0';
    Drop(quote == '\0' ? 0 : 1);
    while (!text_.empty()) {
      const char c = text_.front();
      if (c == '\\' && text_.size() > 1) {
        word += text_.substr(0, 2);
        Drop(2);
        continue;
      }
      if (quote == '\0' && c == '{' && word.ends_with('$')) {
        const std::size_t end = std::min(text_.find('}'), text_.size() - 1);
        word += text_.substr(0, end + 1);
        Drop(end + 1);
        continue;
      }
      if (quote != '\0' ? c == quote
                        : std::isspace(static_cast<unsigned char>(c)) != 0 || c == ';' ||
                              c == '{' || c == '}') {
        Drop(quote == '\0' ? 0 : 1);
        break;
      }
      word += c;
      Drop(1);
    }
    return word;
  }

  std::string_view text_;
  const std::string& file_;
  int line_ = 1;
};

}  // namespace

const NginxDirective* NginxDirective::Find(std::string_view other) const {
  const auto found = std::ranges::find(inside, other, &NginxDirective::name);
  return found == inside.end() ? nullptr : &*found;
}

Result<std::vector<NginxDirective>> ReadNginx(std::string_view text, const std::string& file) {
  return NginxReader(text, file).Read(0);
}

}  // namespace sluice::app::doctor
