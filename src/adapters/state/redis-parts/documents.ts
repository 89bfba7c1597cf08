import type { Clock } from "../../../observe/clock.ts";
import { documentText } from "../../../state/document-text.ts";
import type { ListedState, State } from "../../../state/state.port.ts";
import type { Connection } from "./connection.ts";
import { createScript } from "./script.ts";

/** The number of documents to list at once. */
const PAGE = 500;

/** document:KEY is a document. `index` has every key, for listing by prefix. `expiring` has the keys that expire, for removing them from the index. */
export const DOCUMENTS = createScript(String.raw`
local function find(key)
  local found = redis.call("HMGET", root .. "document:" .. key, "version", "value", "until")
  if not found[1] or (found[3] and tonumber(found[3]) <= now) then return nil end
  return found
end

local function remove(key)
  redis.call("DEL", root .. "document:" .. key)
  redis.call("ZREM", root .. "index", key)
  redis.call("ZREM", root .. "expiring", key)
end

if action == "get" then
  local found = find(ARGV[4])
  return found and { found[1], found[2] }
elseif action == "set" then
  local key, value, ifVersion, spanMs = ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7])
  local found = find(key)
  if ifVersion ~= "" and (found and found[1] or "absent") ~= ifVersion then return 0 end
  -- Comes first: a server without memory refuses it, and nothing was removed yet.
  local version = string.format("%.0f", nextNumber())
  -- A few at a time, so that what has expired goes as fast as new entries come.
  for _, old in ipairs(redis.call("ZRANGEBYSCORE", root .. "expiring", "-inf", now, "LIMIT", 0, 10)) do remove(old) end
  remove(key)
  redis.call("HSET", root .. "document:" .. key, "version", version, "value", value)
  redis.call("ZADD", root .. "index", 0, key)
  if spanMs then
    redis.call("HSET", root .. "document:" .. key, "until", exact(now + spanMs))
    redis.call("ZADD", root .. "expiring", now + spanMs, key)
    -- At least 1: Redis does not read -0, which a span that just ended is rounded to.
    redis.call("PEXPIRE", root .. "document:" .. key, string.format("%.0f", math.max(1, math.ceil(spanMs))))
  end
  return 1
elseif action == "delete" then
  local found = find(ARGV[4])
  if not found or (ARGV[5] ~= "" and found[1] ~= ARGV[5]) then return 0 end
  remove(ARGV[4])
  return 1
elseif action == "list" then
  local prefix, after = ARGV[4], ARGV[5]
  local first = after == "" and "[" .. prefix or "(" .. after
  local keys = redis.call("ZRANGEBYLEX", root .. "index", first, "(" .. prefix .. string.char(255), "LIMIT", 0, ARGV[6])
  local listed = { #keys == tonumber(ARGV[6]) and keys[#keys] or "" }
  for _, key in ipairs(keys) do
    local found = find(key)
    if found then
      listed[#listed + 1] = key
      listed[#listed + 1] = found[1]
      listed[#listed + 1] = found[2]
    end
  end
  return listed
elseif action == "keys" then
  local prefix, after = ARGV[4], ARGV[5]
  local first = after == "" and "[" .. prefix or "(" .. after
  local keys = redis.call("ZRANGEBYLEX", root .. "index", first, "(" .. prefix .. string.char(255), "LIMIT", 0, ARGV[6])
  local listed = { #keys == tonumber(ARGV[6]) and keys[#keys] or "" }
  for _, key in ipairs(keys) do
    local found = redis.call("HMGET", root .. "document:" .. key, "version", "until")
    if found[1] and (not found[2] or tonumber(found[2]) > now) then listed[#listed + 1] = key end
  end
  return listed
end
`);

/** Keeps JSON documents, which expire by the server's clock. */
export function createRedisDocuments(connection: Connection, clock: Clock): State & { used(): boolean } {
  let isUsed = false;

  function run(action: string, given: readonly string[], signal: AbortSignal | undefined): Promise<unknown> {
    isUsed = true;
    return connection.run(DOCUMENTS, action, given, signal);
  }

  return {
    used: () => isUsed,

    async get(key, { signal } = {}) {
      const found = (await run("get", [key], signal)) as readonly [string, string] | null;
      return found === null ? undefined : { value: JSON.parse(found[1]), version: Number(found[0]) };
    },

    async set(key, value, { ifVersion = "", expiresAt, signal } = {}) {
      const spanMs = expiresAt === undefined ? "" : String(expiresAt - clock.now());
      return (await run("set", [key, documentText(key, value), String(ifVersion), spanMs], signal)) === 1;
    },

    async delete(key, { ifVersion = "", signal } = {}) {
      return (await run("delete", [key, String(ifVersion)], signal)) === 1;
    },

    async list(prefix, { after = "", limit = Infinity, signal } = {}) {
      const listed: ListedState[] = [];
      // A key before the prefix would start the page outside the prefix.
      let last = after > prefix ? after : "";
      do {
        const most = String(Math.min(PAGE, limit - listed.length));
        const reply = await run("list", [prefix, last, most], signal);
        const [next = "", ...found] = reply as readonly string[];
        for (let index = 0; index < found.length; index += 3)
          listed.push({
            key: found[index] ?? "",
            version: Number(found[index + 1]),
            value: JSON.parse(found[index + 2] ?? "null"),
          });
        last = next;
      } while (last !== "" && listed.length < limit);
      return listed;
    },

    async keys(prefix, { signal } = {}) {
      const listed: string[] = [];
      let after = "";
      do {
        const reply = await run("keys", [prefix, after, String(PAGE)], signal);
        const [next = "", ...found] = reply as readonly string[];
        listed.push(...found);
        after = next;
      } while (after !== "");
      return listed;
    },
  };
}
