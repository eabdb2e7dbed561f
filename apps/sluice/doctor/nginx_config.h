#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sluice/result.h"

namespace sluice::app::doctor {

// A directive of an NGINX configuration: "proxy_pass http://sluice;", or a block with its own.
struct NginxDirective {
  std::string name;
  std::vector<std::string> arguments;
  int line = 0;
  bool is_block = false;
  std::vector<NginxDirective> inside;

  [[nodiscard]] bool Is(std::string_view other) const { return name == other; }
  // The first argument; "" for none.
  [[nodiscard]] std::string_view first() const {
    return arguments.empty() ? std::string_view() : arguments.front();
  }
  // The first one inside of this name; nullptr if there is none.
  [[nodiscard]] const NginxDirective* Find(std::string_view name) const;
};

// Reads the text of one file. Files that it includes are not read. Errors have the line.
[[nodiscard]] Result<std::vector<NginxDirective>> ReadNginx(std::string_view text,
                                                            const std::string& file);

}  // namespace sluice::app::doctor
