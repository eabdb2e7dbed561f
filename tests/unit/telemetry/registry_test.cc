#include "telemetry/registry.h"

#include <gtest/gtest.h>

namespace sluice::telemetry {
namespace {

class Lines final : public Source {
 public:
  void Write(Exposition& out) const override {
    out.Family("lines_total", "Lines.", Exposition::Type::kCounter);
    out.Sample("lines_total", {}, std::uint64_t{3});
  }
};

TEST(RegistryTest, ShowsEachSourceInTheOrderOfAdding) {
  Registry registry;
  const Lines lines;
  registry.AddGauge("keys", "Live keys.", [] { return 12.0; });
  registry.Add(lines);
  registry.AddCounter("evictions_total", "Keys dropped.", [] { return std::uint64_t{1}; });
  EXPECT_EQ(registry.Text(),
            "# HELP keys Live keys.\n# TYPE keys gauge\nkeys 12\n"
            "# HELP lines_total Lines.\n# TYPE lines_total counter\nlines_total 3\n"
            "# HELP evictions_total Keys dropped.\n# TYPE evictions_total counter\n"
            "evictions_total 1\n");
}

TEST(RegistryTest, AsksAGaugeAtEachScrape) {
  Registry registry;
  double value = 1;
  registry.AddGauge("keys", "Live keys.", [&value] { return value; });
  (void)registry.Text();
  value = 2;
  EXPECT_NE(registry.Text().find("keys 2\n"), std::string::npos);
}

}  // namespace
}  // namespace sluice::telemetry
