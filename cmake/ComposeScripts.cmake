# Puts the fragments in src/redis/lua/ together to the scripts that Redis runs, as C++ constants
# with their SHA-1: cmake -DFRAGMENTS=<folder> -DOUT=<file.cc> -P ComposeScripts.cmake
#
# A script for one check of one algorithm is that algorithm's fragment between now.lua and
# one.lua. Scripts for any algorithm have all fragments, each in a scope of its own, out of which
# it hands its functions through the table `kinds`.
set(algorithms bucket fixed_window sliding_window_counter sliding_window_log sliding_window
               concurrency)
set(needs_sliding_window_log entries)
set(needs_sliding_window entries)

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

function(add_script name text)
  string(SHA1 sha "${text}")
  set_property(GLOBAL APPEND_STRING PROPERTY scripts
    "    {\"${name}\", \"${sha}\",\n     R\"lua(${text})lua\"},\n")
endfunction()

join(head now wide)
set(every "${head}local kinds = {}\n")
foreach(algorithm IN LISTS algorithms)
  join(text ${needs_${algorithm}} ${algorithm})
  # Holds are given back by their names.
  set(release "")
  if(algorithm STREQUAL concurrency)
    set(release "kinds.concurrency.release = release\n")
  endif()
  string(APPEND every "do\n${text}"
    "kinds.${algorithm} = {quota = quota_of, load = load, save = save, counts = counts,"
    " judge = judge, refund = refund, needs_other_edges = needs_other_edges}\n"
    "${release}needs_other_edges = nil\nend\n")
endforeach()

# In the order of ScriptId in src/redis/scripts.h.
foreach(algorithm IN LISTS algorithms)
  join(text now wide ${needs_${algorithm}} ${algorithm} one)
  add_script(${algorithm} "${text}")
endforeach()
# With it scripts find what a key has under the former ids of its rule.
join(former former_keys)
join(tail request)
add_script(request "${every}${former}${tail}")
join(tail refund)
add_script(refund "${every}${former}${tail}")
join(text now wide concurrency former_keys release)
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

get_property(scripts GLOBAL PROPERTY scripts)
file(WRITE ${OUT}
"// Made by cmake/ComposeScripts.cmake from src/redis/lua/.
#include \"redis/scripts.h\"

namespace sluice::redis {

const std::array<Script, kScriptCount> kScripts{{
${scripts}}};

}  // namespace sluice::redis
")
