-- Any request: mirrors src/store/request.cc and draft.cc. Before it stand all algorithms'
-- fragments, in `kinds`, and former_keys.lua.
--
-- KEYS: of each check its key, and behind it the keys under the rule's former ids.
-- ARGV: time, mode (all, each or peek), then eight of each check: kind, how many former ids,
-- shadow (1 or 0), cost, and the quota's four values.
-- Reply: time, then of each check code, remaining, reset_after, wait as in one.lua; or the time
-- alone.
local mode, checks, drafts, order = ARGV[2], {}, {}, {}

local next_key = 1
for i = 3, #ARGV, 8 do
  local kind = kinds[ARGV[i]]
  local check = {kind = kind, shadow = ARGV[i + 2] == '1', cost = tonumber(ARGV[i + 3]),
                 quota = kind.quota(ARGV[i + 4], ARGV[i + 5], ARGV[i + 6], ARGV[i + 7]),
                 key = KEYS[next_key], formers = {}}
  for former = 1, tonumber(ARGV[i + 1]) do
    check.formers[former] = KEYS[next_key + former]
  end
  next_key = next_key + 1 + #check.formers
  if kind.needs_other_edges and kind.needs_other_edges(check.quota) then
    return {now}
  end
  checks[#checks + 1] = check
end

-- One key of the request: what it holds, and what it would hold if the request were charged.
for _, check in ipairs(checks) do
  local draft = drafts[check.key]
  if not draft then
    draft = {key = check.key, kind = check.kind, quota = check.quota, base = adopted(check.kind, check.quota, check.key, check.formers)}
    draft.state = draft.base
    drafts[check.key], order[#order + 1] = draft, draft
  end
  check.draft = draft
end

local function peek(check)
  return check.kind.judge(check.quota, check.draft.base, check.cost, true)
end

-- Judges a check on what those before it would leave, and if it passes takes it into the draft.
local function judge_into(check)
  local draft, charged = check.draft, nil
  check.reason, check.remaining, check.left, check.wait, charged =
      check.kind.judge(check.quota, draft.state, check.cost, false)
  if charged then
    draft.state, draft.quota, draft.dirty = charged, check.quota, true
    check.charged = true
  end
end

local function judge_those(shadow)
  local denied = false
  for _, check in ipairs(checks) do
    if check.shadow == shadow then
      judge_into(check)
      denied = denied or check.reason ~= 0
    end
  end
  return denied
end

if mode == 'peek' then
  -- Verdict and wait as a check would have them, numbers as they are.
  for _, check in ipairs(checks) do
    check.reason, check.remaining, check.left, check.wait = peek(check)
    if not check.shadow and #order < #checks then
      local reason, _, _, wait, charged =
          check.kind.judge(check.quota, check.draft.state, check.cost, false)
      check.reason, check.wait = reason, wait
      check.draft.state = charged or check.draft.state
    end
  end
elseif mode == 'each' then
  judge_those(false)
  judge_those(true)
elseif judge_those(false) then
  -- Nothing is charged: all numbers are those of now.
  for _, draft in ipairs(order) do
    draft.state, draft.dirty = draft.base, false
  end
  for _, check in ipairs(checks) do
    local reason, remaining, left, wait = peek(check)
    check.charged = false
    check.remaining, check.left = remaining, left
    if check.shadow or check.reason == 0 then
      check.reason, check.wait = reason, wait
    end
  end
else
  judge_those(true)
end

for _, draft in ipairs(order) do
  if draft.dirty then
    draft.kind.save(draft.key, draft.quota, draft.state)
  elseif draft.base and draft.base.shifted then
    draft.kind.save(draft.key, draft.quota, draft.base)
  end
end

local reply = {now}
for _, check in ipairs(checks) do
  local n = #reply
  reply[n + 1] = check.charged and -1 or check.reason
  reply[n + 2], reply[n + 3], reply[n + 4] = check.remaining, check.left, check.wait
end
return reply
