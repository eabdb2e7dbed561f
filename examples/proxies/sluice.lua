-- For haproxy.cfg beside this file: asks Sluice about the request at hand. A refusal is answered
-- here, with Sluice's own answer. Of what passes, the limits go into variables of the transaction.
local sluice = "http://127.0.0.1:8080/v1/check/http"
local limits = {"ratelimit", "ratelimit-policy", "x-ratelimit-limit", "x-ratelimit-remaining",
                "x-ratelimit-reset"}
local shown = {"content-type", "retry-after", "cache-control", table.unpack(limits)}

core.register_action("sluice_check", {"http-req"}, function(txn)
  -- Only what HAProxy itself knows of the request: nothing that its client wrote about it.
  local answer = core.httpclient():get{
    url = sluice,
    timeout = 500,
    headers = {
      ["x-original-method"] = {txn.sf:method()},
      ["x-original-uri"] = {txn.sf:pathq()},
      ["x-forwarded-host"] = {txn.sf:req_hdr("host")},
      ["x-forwarded-for"] = {txn.sf:src()},
    },
  }
  local function field(name)
    local values = answer and answer.headers and answer.headers[name]
    return values and values[0]
  end
  local status = tonumber(field("x-rl-status") or "")
  if status == nil then  -- Sluice did not answer.
    if not txn:get_var("txn.sluice.open") then
      txn:done(txn:reply{status = 503})
    end
  elseif status == 200 then
    for _, name in ipairs(limits) do
      if field(name) then
        txn:set_var("txn.sluice." .. name:gsub("-", "_"), field(name))
      end
    end
  else
    local headers = {}
    for _, name in ipairs(shown) do
      if field(name) then
        headers[name] = {field(name)}
      end
    end
    txn:done(txn:reply{status = status, headers = headers, body = answer.body})
  end
end)
