-- What tills do, for wrk: of ten calls four validate by code, one with a ticket of 20 lines, four redeem a cent under a key of its own, one repeats
-- a redemption as it was. Arguments: the file of gifts (a voucherID and a code on each line), and the API key.
local threads = {}

function setup(thread)
  thread:set("number", #threads)
  table.insert(threads, thread)
end

function init(args)
  gifts, taken, repeated, refused, wrong, calls = {}, 0, 0, 0, "", 0
  for line in io.lines(args[1]) do
    local id, code = line:match("(%S+) (%S+)")
    table.insert(gifts, {id = id, code = code})
  end
  math.randomseed(os.time() * 64 + number)
  headers = {["Content-Type"] = "application/json", Authorization = "Bearer " .. args[2]}
  local lines = {}
  for n = 1, 20 do
    lines[n] = string.format('{"itemID":"SKU-%d","itemName":"Item %d","itemUnitPrice":3.5,"quantity":2,"itemTotalPrice":7.00}', n, n)
  end
  ticket = ',"ticketData":{"format":"standard","data":{"lineItems":[' .. table.concat(lines, ",") .. '],"totals":{"grandTotal":140.00}}}'
end

local function post(operation, body, key)
  headers["Idempotency-Key"] = key
  return wrk.format("POST", "/api/integration/redemption/" .. operation, headers, body)
end

function request()
  local gift, lot = gifts[math.random(#gifts)], math.random(10)
  if lot <= 4 then
    return post("validate-gift", '{"voucherCode":"' .. gift.code .. '"}')
  elseif lot == 5 then
    return post("validate-gift", '{"voucherCode":"' .. gift.code .. '"' .. ticket .. '}')
  elseif lot == 6 and last then
    return last
  end
  calls = calls + 1
  last = post("redeem-gift", '{"voucherID":"' .. gift.id .. '","amount":0.01}', string.format("wrk-%d-%d-%d", number, calls, math.random(2^31)))
  return last
end

function response(status, header, body)
  if status == 200 and body:find('"redemptionID"', 1, true) then
    if header["Idempotent-Replayed"] then
      repeated = repeated + 1
    else
      taken = taken + 1
    end
  elseif status ~= 200 then
    refused, wrong = refused + 1, body
  end
end

function done(summary, latency)
  local all = {taken = 0, repeated = 0, refused = 0}
  for _, thread in ipairs(threads) do
    for name in pairs(all) do
      all[name] = all[name] + thread:get(name)
    end
    if thread:get("wrong") ~= "" then
      print("refused, for one: " .. thread:get("wrong"))
    end
  end
  print(string.format("%d calls a second; p50 %.1f ms, p99 %.1f ms; %d connections lost", summary.requests / summary.duration * 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
  print(string.format("taken=%d repeated=%d refused=%d", all.taken, all.repeated, all.refused))
end
