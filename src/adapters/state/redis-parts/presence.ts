import type { Clock } from "../../../observe/clock.ts";
import { createPresence, PRESENCE_MS, type RenewedPresence } from "../../../state/renewed-presence.ts";
import { describeProcess, hasEnded } from "../../../system/process-table.ts";
import type { Connection } from "./connection.ts";
import { RULES } from "./limits-script.ts";
import { createScript } from "./script.ts";

/*
 * processes: the expiry of each process, and its description. The ids of everything that a process holds start with the process's id; its places and
 * leases are in places:ID and leases:ID. Waiting calls check for free places themselves.
 */
export const PROCESSES = createScript(
  RULES +
    String.raw`
local processes, id = root .. "processes", ARGV[4]

local function free(gone)
  local start = gone .. ":"
  local function isHeld(by) return string.sub(by, 1, #start) == start end
  local places = redis.call("SMEMBERS", root .. "places:" .. gone)
  places[#places + 1] = ""
  for _, place in ipairs(places) do
    local key = root .. "place:" .. place
    for _, pass in ipairs(redis.call("ZRANGE", key, 0, -1)) do
      if isHeld(pass) then redis.call("ZREM", key, pass) end
    end
  end
  for _, group in ipairs(redis.call("SMEMBERS", root .. "groups")) do
    for _, waiter in ipairs(redis.call("ZRANGE", root .. "queue:" .. group, 0, -1)) do
      if isHeld(waiter) then
        redis.call("ZREM", root .. "queue:" .. group, waiter)
        redis.call("DEL", root .. "waiter:" .. waiter)
      end
    end
  end
  for _, waiter in ipairs(redis.call("SMEMBERS", root .. "given:" .. gone)) do redis.call("DEL", root .. "waiter:" .. waiter) end
  for _, key in ipairs(redis.call("HKEYS", root .. "breakers")) do
    local breaker = readBreaker(key)
    if isHeld(breaker.probeId) then
      breaker.probeId, breaker.probeUntil = nil, nil
      setBreaker(key, breaker)
    end
  end
  for _, name in ipairs(redis.call("SMEMBERS", root .. "leases:" .. gone)) do
    local holder = string.match(redis.call("GET", root .. "lease:" .. name) or "", "^%S+ (.*)$")
    if holder and isHeld(holder) then redis.call("DEL", root .. "lease:" .. name) end
  end
  for _, kind in ipairs({ "places:", "leases:", "given:", "claim:" }) do redis.call("DEL", root .. kind .. gone) end
  redis.call("HDEL", processes, gone)
end

if action == "renew" then
  local late, ended = ARGV[7] == "1", {}
  for index = 8, #ARGV do ended[ARGV[index]] = true end
  local wasNew = redis.call("HSET", processes, id, exact(now + ARGV[6]) .. " " .. ARGV[5])
  local listed, found = redis.call("HGETALL", processes), { 1 - wasNew }
  for index = 1, #listed, 2 do
    local other = listed[index]
    local untilText, description = string.match(listed[index + 1], "^(%S+) (.*)$")
    if other ~= id and (ended[other] or late and tonumber(untilText) <= now) then
      free(other)
    elseif other ~= id then
      found[#found + 1] = other
      found[#found + 1] = description
    end
  end
  return found
elseif action == "leave" then
  free(id)
end
`,
);

/** Keeps the list of processes on the server. */
export function createRedisPresence(connection: Connection, clock: Clock): RenewedPresence {
  return createPresence(
    {
      async renew({ id, description, ended, late }) {
        const values = [id, description, String(PRESENCE_MS), late ? "1" : "0", ...ended];
        const [wasKnown, ...listed] = (await connection.run(PROCESSES, "renew", values)) as [number, ...string[]];
        const others: { id: string; description: string }[] = [];
        for (let index = 0; index < listed.length; index += 2)
          others.push({ id: listed[index] ?? "", description: listed[index + 1] ?? "" });
        return { wasKnown: wasKnown === 1, others };
      },
      leave: async (id) => void (await connection.run(PROCESSES, "leave", [id])),
    },
    clock,
    { describe: describeProcess, hasEnded },
  );
}
