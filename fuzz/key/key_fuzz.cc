// Any bytes read as a key, in every form that is read back: refused, or a key within its bounds
// that is written as exactly these bytes.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/key_codec.h"

namespace {

using sluice::core::Key;
using sluice::core::KeyForm;

void Check(bool condition) {
  if (!condition) {
    std::abort();
  }
}

void CheckBounds(const Key& key) {
  Check(key.parts().size() <= sluice::core::kMaxKeyParts);
  for (const sluice::core::KeyPart& part : key.parts()) {
    Check(part.value.size() <= sluice::core::kMaxValueBytes);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const KeyForm form : {KeyForm::kCounted, KeyForm::kWhole}) {
    std::string_view rest = bytes;
    Key key;
    if (ReadKey(form, rest, key)) {
      CheckBounds(key);
      std::string again;
      AppendKey(form, key.view(), again);
      Check(again + std::string(rest) == bytes);
    }
  }
  if (const auto key = sluice::core::ReadKeyText("rule", bytes)) {
    CheckBounds(*key);
    std::string again;
    AppendKeyText(key->parts(), again);
    Check(again == bytes);
  }
  if (const auto values = sluice::core::SplitKeyValues(bytes)) {
    std::string again;
    for (const std::string& value : *values) {
      sluice::core::AppendKeyValue(again, value, &value == values->data());
    }
    Check(again == bytes);
  }
  return 0;
}
