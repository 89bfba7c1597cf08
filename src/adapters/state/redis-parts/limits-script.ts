import { createScript } from "./script.ts";

/*
 * The rules of state/limit-rules.ts, in Lua. Keys, all under one root:
 * - window:SPAN KEY: the times of the last calls, newest first.
 * - place:KEY: the holders of the place, scored by their expiry. Passes with a breaker and without places are under the empty key.
 * - quota:KEY: the total of a quota.
 * - breakers: failures, era, when a call may probe, and the probe. open: when a call may probe those that are open.
 * - budget:KEY: calls and retries by the second.
 * - groups: each list of places that calls wait for. queue:GROUP: those calls, scored by arrival. waiter:ID: one of them.
 * - given:HANDLE: calls of another process that were answered. claim:HANDLE: when that process last looked.
 * - places:HANDLE: the places that a process may hold or wait for. It names each of them once, and periodically drops unused ones.
 */

export const RULES: string = String.raw`
-- How long a call of another process is held a place for, until that process takes it.
local CLAIM_MS = 2000
local DAY_MS = 86400000

local function publish(channel) redis.call("PUBLISH", root .. channel, "") end

local function readBreaker(key)
  local packed = redis.call("HGET", root .. "breakers", key)
  if not packed then return nil end
  local failures, era, probeAt, probeUntil, probeId = string.match(packed, "^(%S+) (%S+) (%S+) (%S+) (.*)$")
  return {
    failures = tonumber(failures), era = tonumber(era), probeAt = tonumber(probeAt),
    probeUntil = tonumber(probeUntil), probeId = probeId
  }
end

local function setBreaker(key, breaker)
  local probeAt = false
  if breaker then
    probeAt = breaker.probeAt and exact(breaker.probeAt) or false
    local probeUntil = breaker.probeUntil and exact(breaker.probeUntil) or "-"
    local packed = { exact(breaker.failures), exact(breaker.era), probeAt or "-", probeUntil, breaker.probeId or "" }
    redis.call("HSET", root .. "breakers", key, table.concat(packed, " "))
  else
    redis.call("HDEL", root .. "breakers", key)
  end
  if redis.call("HGET", root .. "open", key) == probeAt then return end
  if probeAt then redis.call("HSET", root .. "open", key, probeAt) else redis.call("HDEL", root .. "open", key) end
  publish("breakers")
end

local function count(key, what)
  local budget, second = root .. "budget:" .. key, math.floor(now / 1000)
  if redis.call("HINCRBY", budget, what .. second, 1) > 1 then return end
  redis.call("PEXPIRE", budget, 120000)
  for _, field in ipairs(redis.call("HKEYS", budget)) do
    if tonumber(string.match(field, "%d+")) < second - 61 then redis.call("HDEL", budget, field) end
  end
end

local function sum(key, what, seconds)
  local fields, second = {}, math.floor(now / 1000)
  for back = 0, seconds do fields[back + 1] = what .. (second - back) end
  local total = 0
  for _, counted in ipairs(redis.call("HMGET", root .. "budget:" .. key, unpack(fields))) do
    total = total + (tonumber(counted) or 0)
  end
  return total
end

local function windowKey(window) return root .. "window:" .. window.windowMs .. " " .. window.key end

-- A pass without places is held under the empty key, so that it cannot be given back twice.
local function placeKeys(places)
  local keys = {}
  for index, place in ipairs(places or {}) do keys[index] = root .. "place:" .. place.key end
  if #keys == 0 then keys[1] = root .. "place:" end
  return keys
end

-- Adds to the totals of quotas. Returns them.
local function addUses(quotas)
  local totals = {}
  for index, use in ipairs(quotas or {}) do
    local key = root .. "quota:" .. use.key
    totals[index] = string.format("%.0f", redis.call("INCRBY", key, string.format("%.0f", use.amount)))
    redis.call("PEXPIRE", key, string.format("%.0f", math.ceil(use.keepMs)))
  end
  return totals
end

-- Takes everything a call needs, or nothing. Answers in three words; an admitted call also gets the totals of its quotas.
local function tryAdmit(request, id, holdMs)
  for index, use in ipairs(request.quotas or {}) do
    local total = tonumber(redis.call("GET", root .. "quota:" .. use.key) or 0)
    if use.limit and total + math.max(1, use.amount) > use.limit then return string.format("quota %d -1", index) end
  end
  local settings = request.breaker
  local breaker = settings and readBreaker(settings.key)
  if breaker and breaker.probeAt then
    local wait = breaker.probeAt - now
    if wait > 0 then return string.format("breaker 0 %.0f", math.ceil(wait)) end
    if breaker.probeUntil and breaker.probeUntil > now then return "breaker 0 -1" end
  end
  local longest, tightest = 0, nil
  for index, window in ipairs(request.windows or {}) do
    local at = redis.call("LINDEX", windowKey(window), window.calls - 1)
    local wait = at and math.ceil(at + window.windowMs - now) or 0
    if wait > longest then longest, tightest = wait, index end
  end
  if tightest then return string.format("window %d %.0f", tightest, longest) end
  for index, place in ipairs(request.places or {}) do
    local key = root .. "place:" .. place.key
    redis.call("ZREMRANGEBYSCORE", key, "-inf", now)
    if redis.call("ZCARD", key) >= place.limit then return string.format("places %d -1", index) end
  end

  local probe = breaker and breaker.probeAt
  for _, window in ipairs(request.windows or {}) do
    local key = windowKey(window)
    redis.call("LPUSH", key, exact(now))
    -- Whatever is older than the last calls has left the window, or this call would not have been admitted.
    redis.call("LTRIM", key, 0, window.calls - 1)
    redis.call("PEXPIRE", key, math.ceil(window.windowMs))
  end
  local ends, hasPlaces = now + holdMs, request.places and #request.places > 0
  if settings and not hasPlaces then redis.call("ZREMRANGEBYSCORE", root .. "place:", "-inf", now) end
  if settings or hasPlaces then
    for _, key in ipairs(placeKeys(request.places)) do redis.call("ZADD", key, ends, id) end
  end
  if request.budget then count(request.budget.key, "calls") end
  if probe then
    breaker.probeId, breaker.probeUntil = id, ends
    setBreaker(settings.key, breaker)
  end
  local answer = { string.format("admitted %d %.0f", probe and 1 or 0, breaker and breaker.era or 0) }
  for _, total in ipairs(addUses(request.quotas)) do answer[#answer + 1] = total end
  return table.concat(answer, " ")
end

local function letGo(id, places)
  local held = false
  for _, key in ipairs(placeKeys(places)) do
    local ends = redis.call("ZSCORE", key, id)
    if ends then redis.call("ZREM", key, id) end
    if ends and tonumber(ends) > now then held = true end
  end
  return held
end

local function open(settings, failures)
  setBreaker(settings.key, { failures = failures, era = nextNumber(), probeAt = now + settings.coolDownMs })
  return { "opened", failures }
end

-- Tells the breaker of a call how it went.
local function report(pass, outcome)
  local settings = pass.breaker
  if not settings then return {} end
  local breaker = readBreaker(settings.key)
  if (breaker and breaker.era or 0) ~= pass.era then return {} end
  if pass.probe then
    -- Another call probes by now, if this one took longer than it was allowed to.
    if not breaker or breaker.probeId ~= pass.id then return {} end
    if outcome == "failure" then return open(settings, breaker.failures + 1) end
    if outcome == "neutral" then
      breaker.probeId, breaker.probeUntil = nil, nil
      setBreaker(settings.key, breaker)
      return {}
    end
    setBreaker(settings.key, { failures = 0, era = nextNumber() })
    return { "closed", 0 }
  end
  if outcome == "failure" then
    local failures = (breaker and breaker.failures or 0) + 1
    if failures >= settings.threshold then return open(settings, failures) end
    setBreaker(settings.key, { failures = failures, era = breaker and breaker.era or 0 })
  elseif outcome == "success" and breaker and breaker.failures > 0 then
    setBreaker(settings.key, breaker.era ~= 0 and { failures = 0, era = breaker.era } or nil)
  end
  return {}
end

-- Gives back what a call held, and adds what it spent to quotas.
local function release(pass, outcome, spent)
  if not letGo(pass.id, pass.places) then return {} end
  local reported = report(pass, outcome)
  if not spent then return reported end
  return { reported[1] or "", reported[2] or 0, table.concat(addUses(spent), " ") }
end
`;

const WAITING = String.raw`
local answers = {}
local function answer(id, text)
  answers[#answers + 1] = id
  answers[#answers + 1] = text
end

local function queue(id, group, arrived)
  redis.call("ZADD", root .. "queue:" .. group, arrived, id)
  redis.call("SADD", root .. "groups", group)
end

-- The first call of a group whose wait is not over.
local function head(group)
  while true do
    local first = redis.call("ZRANGE", root .. "queue:" .. group, 0, 0, "WITHSCORES")
    if not first[1] then
      redis.call("SREM", root .. "groups", group)
      return nil
    end
    local waiter = redis.call("HMGET", root .. "waiter:" .. first[1], "request", "until", "handle")
    if waiter[1] and tonumber(waiter[2]) > now then
      return { id = first[1], arrived = tonumber(first[2]), request = cjson.decode(waiter[1]), handle = waiter[3] }
    end
    redis.call("ZREM", root .. "queue:" .. group, first[1])
    redis.call("DEL", root .. "waiter:" .. first[1])
  end
end

-- Leaves an answer for another process, and wakes it.
local function give(waiter, text)
  redis.call("HSET", root .. "waiter:" .. waiter.id, "answer", text, "arrived", exact(waiter.arrived))
  redis.call("SADD", root .. "given:" .. waiter.handle, waiter.id)
  redis.call("PEXPIRE", root .. "given:" .. waiter.handle, DAY_MS)
  if text == "parked 0 0" then return end
  redis.call("SET", root .. "claim:" .. waiter.handle, exact(now), "NX", "PX", DAY_MS)
  publish("given:" .. waiter.handle)
end

-- A process that did not take what it was given is gone or suspended. Its other calls are set aside until it looks again.
local function isDeaf(handle)
  local since = redis.call("GET", root .. "claim:" .. handle)
  return since and tonumber(since) + CLAIM_MS <= now
end

-- Answers the waiting calls that can be answered now, in the order in which they came. Calls of a group need the same places, so if one of
-- them has to wait, all do.
local function serve(mine)
  local heads, full = {}, {}
  for _, group in ipairs(redis.call("SMEMBERS", root .. "groups")) do heads[group] = head(group) end
  while true do
    local group, waiter = nil, nil
    for name, one in pairs(heads) do
      if not waiter or one.arrived < waiter.arrived then group, waiter = name, one end
    end
    if not waiter then return end
    local text = nil
    for _, place in ipairs(waiter.request.places) do if full[place.key] then text = "full" end end
    local isMine = waiter.handle == mine
    if not text and not isMine and isDeaf(waiter.handle) then text = "parked 0 0" end
    text = text or tryAdmit(waiter.request, waiter.id, isMine and waiter.request.holdMs or CLAIM_MS)
    local place = string.match(text, "^places (%d+)")
    if place then full[waiter.request.places[tonumber(place)].key] = true end
    if place or text == "full" then
      heads[group] = nil
    else
      redis.call("ZREM", root .. "queue:" .. group, waiter.id)
      if isMine then
        redis.call("DEL", root .. "waiter:" .. waiter.id)
        answer(waiter.id, text)
      else
        give(waiter, text)
      end
      heads[group] = head(group)
    end
  end
end

-- Takes what another process gave this one. False if it came too late, and the place is free again.
local function claim(request, id)
  local keys = placeKeys(request.places)
  local ends = redis.call("ZSCORE", keys[1], id)
  if not ends or tonumber(ends) <= now then return false end
  for _, key in ipairs(keys) do redis.call("ZADD", key, now + request.holdMs, id) end
  local breaker = request.breaker and readBreaker(request.breaker.key)
  if breaker and breaker.probeId == id then
    breaker.probeUntil = now + request.holdMs
    setBreaker(request.breaker.key, breaker)
  end
  return true
end

-- Takes the answers that other processes left for this one.
local function collect(mine)
  redis.call("DEL", root .. "claim:" .. mine)
  for _, id in ipairs(redis.call("SMEMBERS", root .. "given:" .. mine)) do
    local key = root .. "waiter:" .. id
    local waiter = redis.call("HMGET", key, "request", "answer", "until", "arrived", "group")
    if waiter[1] then
      local kind = string.match(waiter[2], "^%S+")
      if kind == "parked" or (kind == "admitted" and not claim(cjson.decode(waiter[1]), id)) then
        if tonumber(waiter[3]) > now then queue(id, waiter[5], waiter[4]) end
      else
        redis.call("DEL", key)
        answer(id, waiter[2])
      end
    end
  end
  redis.call("DEL", root .. "given:" .. mine)
end

-- Forgets a call that gave up, wherever it got to.
local function leave(mine, id, request)
  local group = redis.call("HGET", root .. "waiter:" .. id, "group")
  if group then redis.call("ZREM", root .. "queue:" .. group, id) end
  redis.call("DEL", root .. "waiter:" .. id)
  redis.call("SREM", root .. "given:" .. mine, id)
  letGo(id, request.places)
  local breaker = request.breaker and readBreaker(request.breaker.key)
  if breaker and breaker.probeId == id then
    breaker.probeId, breaker.probeUntil = nil, nil
    setBreaker(request.breaker.key, breaker)
  end
end
`;

const ACTIONS = String.raw`
if action == "admit" then
  local mine, id, request, group = ARGV[4], ARGV[5], cjson.decode(ARGV[6]), ARGV[7]
  if ARGV[8] then redis.call("SADD", root .. "places:" .. mine, unpack(ARGV, 8)) end
  serve(mine)
  local text = tryAdmit(request, id, request.holdMs)
  if string.match(text, "^places") and (request.waitMs or 0) > 0 then
    local key = root .. "waiter:" .. id
    redis.call("HSET", key, "request", ARGV[6], "until", exact(now + request.waitMs), "handle", mine, "group", group)
    redis.call("PEXPIRE", key, math.ceil(request.waitMs) + 60000)
    queue(id, group, nextNumber())
    text = "queued 0 0"
  end
  return { text, answers }
elseif action == "release" then
  local released = release(cjson.decode(ARGV[5]), ARGV[6], ARGV[7] and cjson.decode(ARGV[7]))
  serve(ARGV[4])
  return { released, answers }
elseif action == "look" then
  collect(ARGV[4])
  serve(ARGV[4])
  return { "", answers }
elseif action == "leave" then
  for index = 5, #ARGV, 2 do leave(ARGV[4], ARGV[index], cjson.decode(ARGV[index + 1])) end
  serve(ARGV[4])
  return { "", answers }
elseif action == "tidy" then
  local named = root .. "places:" .. ARGV[4]
  for _, place in ipairs(redis.call("SMEMBERS", named)) do
    if redis.call("ZCARD", root .. "place:" .. place) == 0 then redis.call("SREM", named, place) end
  end
  for index = 5, #ARGV do redis.call("SADD", named, ARGV[index]) end
elseif action == "retry" then
  local key, share, always = ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
  if share <= 0 then return 0 end
  -- A retry counts for up to a second more than its minute and a call for up to a second less.
  if sum(key, "retries", 60) >= math.max(always, math.floor(share * sum(key, "calls", 59))) then return 0 end
  count(key, "retries")
  return 1
elseif action == "health" then
  nextNumber()
elseif action == "forget" then
  setBreaker(ARGV[4], nil)
elseif action == "open" then
  local listed = redis.call("HGETALL", root .. "open")
  local found = {}
  for index = 1, #listed, 2 do
    found[#found + 1] = { listed[index], listed[index + 1], exact(listed[index + 1] - now) }
  end
  return found
end
`;

export const LIMITS = createScript(RULES + WAITING + ACTIONS);
