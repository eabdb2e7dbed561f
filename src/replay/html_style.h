#pragma once

#include <string_view>

namespace sluice::replay {

// The page's head, with its style sheet, up to the title's text; and from there to the begin of the
// body. The page needs nothing else: no script, no font, no address.
inline constexpr std::string_view kHtmlHead = R"html(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sluice replay</title>
<style>
:root {
  --page: #f5f6f8; --card: #fff; --ink: #1b2330; --soft: #566072; --line: #dde2e9;
  --allowed: #3f7fc8; --denied: #cc3b22; --track: #eceff3; --note: #fff3d1; --note-line: #e6cf86;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #11151b; --card: #1a2029; --ink: #e7ebf1; --soft: #9ba6b6; --line: #2e3744;
    --allowed: #5b97de; --denied: #f0705a; --track: #262e3a; --note: #332c1a; --note-line: #5c4f27;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 960px; margin: 0 auto; padding: 32px 20px 64px; }
h1 { font-size: 15px; font-weight: 600; color: var(--soft); margin: 0 0 6px; }
.meaning { font-size: 24px; line-height: 1.35; font-weight: 600; margin: 0 0 12px;
  text-wrap: balance; }
h2 { font-size: 20px; margin: 0; overflow-wrap: anywhere; }
h3 { font-size: 16px; margin: 32px 0 4px; }
p { margin: 4px 0; }
b { font-weight: 650; }
.soft { color: var(--soft); }
.bad { color: var(--denied); }
.small { font-size: 14px; }
code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 0.92em;
  overflow-wrap: anywhere; }
.note { background: var(--note); border: 1px solid var(--note-line); border-radius: 6px;
  padding: 8px 12px; margin: 8px 0; overflow-wrap: anywhere; }
.meta { display: flex; flex-wrap: wrap; gap: 2px 24px; margin: 0 0 16px; }
.meta div { display: flex; gap: 6px; overflow-wrap: anywhere; }
.meta dt { color: var(--soft); white-space: nowrap; } .meta dd { margin: 0; }
.rule { background: var(--card); border: 1px solid var(--line); border-radius: 12px;
  padding: 24px; margin: 24px 0; }
.tag { font-size: 13px; font-weight: 500; border: 1px solid var(--line); border-radius: 12px;
  padding: 2px 10px; color: var(--soft); vertical-align: 2px; white-space: nowrap; }
.figures { display: flex; flex-wrap: wrap; gap: 12px 36px; margin: 16px 0 0; }
.figure b { display: block; font-size: 30px; line-height: 1.2; font-variant-numeric: tabular-nums; }
.figure span { display: block; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 18px; font-size: 14px; color: var(--soft);
  margin: 0 0 10px; }
.legend i { display: inline-block; width: 12px; height: 12px; border-radius: 3px;
  margin-right: 6px; vertical-align: -1px; }
i.allowed { background: var(--allowed); } i.denied { background: var(--denied); }
rect.allowed { fill: var(--allowed); } rect.denied { fill: var(--denied); }
.chart { position: relative; padding: 0 0 4px 64px; }
.chart svg { display: block; width: 100%; height: 200px; border-bottom: 1px solid var(--soft); }
.grid { stroke: var(--line); vector-effect: non-scaling-stroke; }
.axis { position: absolute; left: 0; top: -9px; width: 56px; height: 218px; display: flex;
  flex-direction: column; justify-content: space-between; text-align: right; }
.axis, .ticks { font-size: 13px; line-height: 18px; color: var(--soft);
  font-variant-numeric: tabular-nums; }
.ticks { position: relative; height: 22px; }
.ticks span { position: absolute; top: 5px; transform: translateX(-50%); white-space: nowrap; }
.ticks span::before { content: ""; position: absolute; left: 50%; top: -5px; height: 5px;
  border-left: 1px solid var(--soft); }
.ticks .first { transform: none; } .ticks .first::before { left: 0; }
.ticks .last { transform: translateX(-100%); } .ticks .last::before { left: 100%; }
.bar { display: flex; background: var(--track); border-radius: 4px; overflow: hidden; height: 14px; }
.bar i { display: block; height: 100%; min-width: 0; }
.keys { list-style: none; margin: 0; padding: 0; }
.keys li { border-top: 1px solid var(--line); padding: 12px 0 14px; }
.keys li:first-child { border-top: 0; }
.key { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 15px; font-weight: 600;
  overflow-wrap: anywhere; }
.amount { display: grid; grid-template-columns: minmax(0, 5fr) minmax(0, 4fr); gap: 16px;
  align-items: center; margin: 4px 0; font-variant-numeric: tabular-nums; }
.keys dl { display: flex; flex-wrap: wrap; gap: 2px 24px; margin: 6px 0 0; font-size: 14px; }
.keys dl div { display: flex; flex-wrap: wrap; gap: 0 6px; max-width: 100%; }
.keys dt { color: var(--soft); white-space: nowrap; } .keys dd { margin: 0; overflow-wrap: anywhere; min-width: 0; }
.rate { display: grid; grid-template-columns: 110px minmax(0, 1fr) 80px; gap: 12px;
  align-items: center; padding: 2px 0; font-size: 14px; font-variant-numeric: tabular-nums; }
.rate .range { text-align: right; color: var(--soft); white-space: nowrap; }
.at-limit { border-bottom: 2px dashed var(--soft); padding-bottom: 6px; margin-bottom: 4px; }
.scroll { overflow-x: auto; margin-top: 12px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: 6px 10px; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
th { color: var(--soft); font-weight: 500; white-space: normal; vertical-align: bottom; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
td.text { white-space: normal; overflow-wrap: anywhere; min-width: 160px; }
tr.own td { font-weight: 650; }
details { margin: 12px 0 0; } summary { cursor: pointer; color: var(--soft); }
footer { color: var(--soft); font-size: 14px; margin-top: 24px; }
@media (max-width: 560px) {
  main { padding: 20px 12px 48px; }
  .meaning { font-size: 20px; }
  .rule { padding: 16px 14px; }
  .figure b { font-size: 25px; }
  .chart { padding-left: 46px; } .axis { width: 40px; font-size: 12px; }
  .ticks { font-size: 12px; } .ticks span:nth-child(even) { display: none; }
  th, td { padding: 6px 4px; } td:first-child { white-space: normal; overflow-wrap: anywhere; }
  table { font-size: 13px; }
  .amount { grid-template-columns: minmax(0, 1fr); gap: 4px; }
  .rate { grid-template-columns: 92px minmax(0, 1fr) 58px; gap: 8px; }
}
</style>
</head>
<body><main>
)html";

}  // namespace sluice::replay
