#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace sluice::wire {

// A value without a schema, like a JSON value: google.protobuf.Value (struct.proto). Members keep
// their order, and a name occurs once.
class StructValue {
 public:
  using List = std::vector<StructValue>;
  using Member = std::pair<std::string, StructValue>;
  using Object = std::vector<Member>;

  StructValue() = default;  // null
  explicit StructValue(bool truth) : value_(truth) {}
  explicit StructValue(double number) : value_(number) {}
  explicit StructValue(std::string text) : value_(std::move(text)) {}
  explicit StructValue(std::string_view text) : value_(std::string(text)) {}
  explicit StructValue(const char* text) : value_(std::string(text)) {}
  explicit StructValue(List list) : value_(std::move(list)) {}
  explicit StructValue(Object object) : value_(std::move(object)) {}

  template <class T>
  [[nodiscard]] const T* As() const {
    return std::get_if<T>(&value_);
  }
  [[nodiscard]] bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  [[nodiscard]] const Object* object() const { return As<Object>(); }
  // Adds or replaces a member. A value that is not an object becomes one.
  void Set(std::string_view name, StructValue value);
  // Adds what this lacks from `other`: objects are merged level by level; other existing values
  // stay.
  void MergeMissing(const StructValue& other);

  [[nodiscard]] bool operator==(const StructValue& other) const = default;

  // As a google.protobuf.Struct: the fields of an object, nothing for any other value.
  void AppendStruct(std::string& out) const;
  void AppendJson(std::string& out) const;

 private:
  void AppendValue(std::string& out) const;

  std::variant<std::monostate, bool, double, std::string, List, Object> value_;
};

}  // namespace sluice::wire
