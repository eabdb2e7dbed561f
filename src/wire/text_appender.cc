#include "wire/text_appender.h"

namespace sluice::wire {

void TextAppender::Flush() {
  out_.append(room_, size_);
  size_ = 0;
}

}  // namespace sluice::wire
