import { createHash } from "node:crypto";

/** A Lua script. Its first argument is the action. */
export interface Script {
  readonly text: string;
  readonly sha1: string;
}

/**
 * Arguments: the action, the latest server time, and a test's time (otherwise empty). A command that arrives after its caller gave up must not take
 * effect.
 */
const START = String.raw`
local root, action = KEYS[1], ARGV[1]
local clock = redis.call("TIME")
local server = clock[1] * 1000 + clock[2] / 1000
if server > tonumber(ARGV[2]) then return redis.error_reply("LATE " .. string.format("%.3f", server)) end
local now = tonumber(ARGV[3]) or server

-- Lua's own way to write numbers has too few digits.
local function exact(number) return string.format("%.17g", number) end

-- Never the same twice, not even after the data was lost: it is at least the time in microseconds.
local function nextNumber()
  local last = tonumber(redis.call("GET", root .. "last") or "0")
  local number = math.max(last + 1, math.floor(now * 1000))
  redis.call("SET", root .. "last", string.format("%.0f", number))
  return number
end

-- Tells the server's time, and whether the data is still the same: a number that is given once.
if action == "start" then
  local born = redis.call("GET", root .. "born")
  if not born then
    born = string.format("%.0f", nextNumber())
    redis.call("SET", root .. "born", born)
  end
  return { exact(server), born }
end
`;

/** Creates a script from its actions. */
export function createScript(body: string): Script {
  const text = START + body;
  return { text, sha1: createHash("sha1").update(text).digest("hex") };
}
