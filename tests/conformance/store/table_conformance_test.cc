#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include <unistd.h>

#include "conformance/store/key_store_conformance.h"
#include "store/table.h"
#include "support/late_store.h"
#include "support/manual_clock.h"

namespace sluice::conformance {
namespace {

class TableFixture : public StoreFixture {
 public:
  explicit TableFixture(std::string path) : path_(std::move(path)) {
    auto table = store::Table::Create(
        {.path = path_, .keys = 1000, .blocks = 1000, .huge_pages = false}, clock_);
    EXPECT_TRUE(table.has_value()) << table.error().Text();
    table_ = std::move(*table);
  }
  ~TableFixture() override {
    if (!path_.empty()) {
      std::filesystem::remove(path_);
    }
  }
  store::KeyStore& store() override { return *table_; }
  void Advance(Duration by) override { clock_.Advance(by); }
  void StepWallClock(Duration by) override { clock_.StepWallClock(by); }

 private:
  std::string path_;
  support::ManualClock clock_;
  std::unique_ptr<store::Table> table_;
};

class LateFixture final : public TableFixture {
 public:
  LateFixture() : TableFixture(""), late_(TableFixture::store(), 42) {}
  store::KeyStore& store() override { return late_; }
  void Pump() override { late_.PumpAll(); }

 private:
  support::LateStore late_;
};

std::string NewPath() {
  static int number = 0;
  return "/dev/shm/sluice_conformance_" + std::to_string(getpid()) + "_" + std::to_string(number++);
}

auto Stores() {
  return ::testing::Values(
      NamedFixture{"Memory", [] { return std::make_unique<TableFixture>(""); }},
      NamedFixture{"File", [] { return std::make_unique<TableFixture>(NewPath()); }},
      NamedFixture{"Late", [] { return std::make_unique<LateFixture>(); }});
}

INSTANTIATE_TEST_SUITE_P(Stores, KeyStoreConformance, Stores(),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace sluice::conformance
