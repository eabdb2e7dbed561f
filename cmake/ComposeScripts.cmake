# Puts the fragments in src/redis/lua/ together to the scripts that Redis runs, as C++ constants
# with their SHA-1: cmake -DFRAGMENTS=<folder> -DOUT=<file.cc> -P ComposeScripts.cmake
#
# The fragments in algorithms/ have the steps of the algorithms, under the name that
# src/core/algorithm.h has for them. A script for one check of one algorithm is such a fragment
# between now.lua and one.lua. Scripts for any algorithm have all of them, each in a scope of its
# own, out of which it hands its functions through the table `kinds`.
file(GLOB algorithms RELATIVE ${FRAGMENTS}/algorithms ${FRAGMENTS}/algorithms/*.lua)
list(TRANSFORM algorithms REPLACE "\\.lua$" "")

# Comments are for readers of the fragments, not for every Redis that the scripts are sent to.
function(read_fragment name result)
  file(READ ${FRAGMENTS}/${name}.lua text)
  string(REGEX REPLACE "(^|\n) *--[^\n]*" "" text "${text}")
  string(REGEX REPLACE "\n\n+" "\n" text "${text}")
  string(REGEX REPLACE "^\n" "" text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

function(join result)
  set(all "")
  foreach(name IN LISTS ARGN)
    read_fragment(${name} text)
    string(APPEND all "${text}")
  endforeach()
  set(${result} "${all}" PARENT_SCOPE)
endfunction()

# An algorithm's fragment, behind the one that it says it needs: "-- needs: entries".
function(join_algorithm name result)
  file(STRINGS ${FRAGMENTS}/algorithms/${name}.lua needs REGEX "^-- needs: ")
  string(REPLACE "-- needs: " "" needs "${needs}")
  join(text ${needs} algorithms/${name})
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

function(add_script name text)
  string(SHA1 sha "${text}")
  set_property(GLOBAL APPEND_STRING PROPERTY scripts
    "    {\"${name}\", \"${sha}\",\n     R\"lua(${text})lua\"},\n")
endfunction()

join(head now wide)
set(every "${head}local kinds = {}\n")
foreach(algorithm IN LISTS algorithms)
  join_algorithm(${algorithm} text)
  # Holds are given back by their names.
  set(release "")
  if(text MATCHES "local function release")
    set(release "kinds.${algorithm}.release = release\n")
  endif()
  string(APPEND every "do\n${text}"
    "kinds.${algorithm} = {quota = quota_of, load = load, save = save, counts = counts,"
    " judge = judge, refund = refund, needs_other_edges = needs_other_edges}\n"
    "${release}needs_other_edges = nil\nend\n")
endforeach()

# In the order of ScriptId in src/redis/scripts.h. With former_keys scripts
# find what a key has under the former ids of its rule.
join(former former_keys)
join(tail request)
add_script(request "${every}${former}${tail}")
join(tail refund)
add_script(refund "${every}${former}${tail}")
join(text now wide algorithms/concurrency former_keys release)
add_script(release "${text}")
join(text member)
add_script(member "${text}")
join(tail reset_mark settle)
add_script(settle "${every}${former}${tail}")
join(begin span_begin)
join(middle request)
join(end span_end)
add_script(span "${every}${former}${begin}local function decide()\n${middle}end\n${end}")
join(tail span_undo)
add_script(span_undo "${every}${tail}")
# The same for requests of which some checks have bans, which others need not read.
join(bans bans)
join(first guard_begin)
join(last guard_end)
set(guarded "${first}local function decide()\n${middle}end\n${last}")
add_script(guarded "${every}${former}${bans}${guarded}")
add_script(guarded_span "${every}${former}${bans}${begin}local function decide()\n${guarded}end\n${end}")
join(text now bans ban)
add_script(ban "${text}")
join(text now bans ban_list)
add_script(ban_list "#!lua flags=no-writes,allow-cross-slot-keys\n${text}")
join(text now record)
add_script(record "${text}")
join(text now reset_mark reset)
add_script(reset "${text}")
join(text secret)
add_script(secret "${text}")
join(tail one)
foreach(algorithm IN LISTS algorithms)
  join_algorithm(${algorithm} text)
  add_script(${algorithm} "${head}${text}${tail}")
endforeach()

get_property(scripts GLOBAL PROPERTY scripts)
file(WRITE ${OUT}
"// Made by cmake/ComposeScripts.cmake from src/redis/lua/.
#include \"redis/scripts.h\"

#include <algorithm>

namespace sluice::redis {

constexpr std::array<Script, kScriptCount> kComposed{{
${scripts}}};

// A fragment for each algorithm that a rule may name, and none besides.
static_assert(std::ranges::all_of(core::kRuleAlgorithms, [](core::Algorithm algorithm) {
  return kComposed[static_cast<std::size_t>(ScriptFor(algorithm))].name ==
         core::TraitsOf(algorithm).steps;
}));

const std::array<Script, kScriptCount> kScripts = kComposed;

}  // namespace sluice::redis
")
