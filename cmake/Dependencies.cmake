# Every library that is not ours, found once, here. The Debian package of each stands in
# tools/packages.txt; why each was chosen, in docs/decisions/.
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})

# What libsluice needs; cmake/sluiceConfig.cmake.in asks for the same again.
find_package(Threads REQUIRED)
find_package(tl-expected REQUIRED)  # tl::expected
find_package(Xxhash REQUIRED)       # xxHash::xxhash
find_package(Re2 REQUIRED)          # re2::re2
find_package(date REQUIRED)         # date::date, date::date-tz
find_package(fmt REQUIRED)          # fmt::fmt

# What only the daemon and the command line need.
find_package(Boost 1.81 REQUIRED COMPONENTS json system)  # Boost::headers, ::json, ::system
find_package(OpenSSL REQUIRED)                            # OpenSSL::SSL, ::Crypto
find_package(Nghttp2 REQUIRED)                            # nghttp2::nghttp2
find_package(Protozero REQUIRED)                          # protozero::protozero
find_package(spdlog REQUIRED)                             # spdlog::spdlog
find_package(CLI11 REQUIRED)                              # CLI11::CLI11
find_package(ZLIB REQUIRED)                               # ZLIB::ZLIB
