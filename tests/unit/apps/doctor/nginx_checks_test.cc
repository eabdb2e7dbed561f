#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/checks.h"
#include "doctor/nginx_config.h"

namespace sluice::app::doctor {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::string_view kQuestion = R"(
  location = /_rate_limit {
    internal;
    proxy_pass http://sluice/v1/check/http?deny_status=403;
    proxy_pass_request_body off;
    proxy_set_header Content-Length "";
    proxy_set_header X-Original-URI $request_uri;
    proxy_set_header X-Forwarded-For $remote_addr;
  }
)";

std::string FoundInNginx(const std::string& text) {
  auto read = ReadNginx(text, "nginx.conf");
  if (!read) {
    return "unreadable: " + read.error().Text();
  }
  Facts facts;
  facts.nginx = NginxFacts{.file = "nginx.conf", .directives = *std::move(read)};
  std::string lines;
  for (const Finding& finding : CheckAll(facts)) {
    lines += std::string(NameOf(finding.severity)) + ' ' + std::string(finding.check) +
             " in line " + std::to_string(finding.place.line) + ": " + ErrorOf(finding).message +
             '\n';
  }
  return lines;
}

// A server that asks for everything in /, and has `more`.
std::string Asking(const std::string& more, const std::string& inside = "",
                   const std::string& question = std::string(kQuestion)) {
  return "server {\n" + more +
         "\n  location / {\n    auth_request /_rate_limit;\n"
         "    auth_request_set $rl $upstream_http_ratelimit;\n" +
         inside + "    proxy_pass http://app;\n  }\n" + question + "}\n";
}

TEST(NginxChecksTest, AServerThatAsksForAllCausesNothing) {
  EXPECT_EQ(FoundInNginx(Asking("  location @moved { return 301 /new; }\n"
                                "  location /open { auth_request off; return 200 ok; }")),
            "");
  EXPECT_EQ(FoundInNginx("server { location /old { return 301 /new; } }"), "");
}

TEST(NginxChecksTest, AReturnBesideAuthRequestIsNamed) {
  EXPECT_THAT(FoundInNginx(Asking("", "    return 200 ok;\n")),
              AllOf(HasSubstr("warning nginx-return-bypasses in line 6"),
                    HasSubstr("location / has `return` beside auth_request")));
  EXPECT_THAT(FoundInNginx(Asking("", "    if ($host = \"a\") { return 301 /b; }\n")),
              HasSubstr("nginx-return-bypasses"));
  EXPECT_THAT(FoundInNginx(Asking("", "    rewrite ^/a{1}$ /b permanent;\n")),
              HasSubstr("unreadable"));  // NGINX refuses it too: braces need quotes.
  EXPECT_THAT(FoundInNginx(Asking("", "    rewrite \"^/a{1}$\" /b permanent;\n")),
              HasSubstr("has `rewrite` beside auth_request"));
  EXPECT_EQ(FoundInNginx(Asking("", "    rewrite ^/a /b break;\n")), "");
}

TEST(NginxChecksTest, ALocationInheritsTheQuestion) {
  EXPECT_THAT(FoundInNginx("http { auth_request /_rate_limit; auth_request_set $a $b; server {" +
                           std::string(kQuestion) + "location /x { return 204; } } }"),
              HasSubstr("location /x has `return`"));
  EXPECT_THAT(FoundInNginx(Asking("  if ($scheme = http) { return 301 https://$host; }")),
              HasSubstr("the server block has `return` beside auth_request"));
}

TEST(NginxChecksTest, WhatAQuestionLacksIsNamed) {
  const auto without = [](const std::string& line) {
    std::string question(kQuestion);
    const std::size_t at = question.find(line);
    EXPECT_NE(at, std::string::npos) << line;
    return FoundInNginx(Asking("", "", question.erase(at, line.size())));
  };
  EXPECT_THAT(without("internal;"), HasSubstr("warning nginx-question in line 9: location = "
                                              "/_rate_limit is not internal"));
  EXPECT_THAT(without("proxy_pass_request_body off;"), HasSubstr("passes the client's body"));
  EXPECT_THAT(without("proxy_set_header Content-Length \"\";"),
              HasSubstr("passes the client's body"));
  EXPECT_THAT(without("proxy_set_header X-Original-URI $request_uri;"),
              HasSubstr("does not say which path"));
  EXPECT_THAT(without("proxy_set_header X-Forwarded-For $remote_addr;"),
              HasSubstr("does not say whose request"));
  EXPECT_THAT(without("?deny_status=403"), HasSubstr("problem nginx-question"));
  EXPECT_THAT(FoundInNginx(Asking("", "", "")), HasSubstr("no location of that name"));
  EXPECT_THAT(FoundInNginx("server { location /a { auth_request /_rate_limit; }" +
                           std::string(kQuestion) + "}"),
              HasSubstr("note nginx-no-limit-headers"));
}

TEST(NginxConfigTest, ReadsQuotesCommentsAndVariables) {
  const auto read = ReadNginx("a 'x;y' \"z}\" ${v}w; # {\nb { c \\; d; }\n", "f");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ(read->at(0).arguments, (std::vector<std::string>{"x;y", "z}", "${v}w"}));
  EXPECT_EQ(read->at(1).line, 2);
  EXPECT_EQ(read->at(1).inside.at(0).arguments, (std::vector<std::string>{"\\;", "d"}));
}

TEST(NginxConfigTest, SaysWhereItEndsTooEarly) {
  EXPECT_THAT(ReadNginx("a {\n b c;\n", "f").error().Text(), HasSubstr("f:3"));
  EXPECT_FALSE(ReadNginx("}", "f"));
  EXPECT_FALSE(ReadNginx("a b", "f"));
  EXPECT_FALSE(ReadNginx(std::string(10'000, '{'), "f"));
}

}  // namespace
}  // namespace sluice::app::doctor
