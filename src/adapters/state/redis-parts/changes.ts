import type { Clock } from "../../../observe/clock.ts";
import type { Changes } from "../../../state/changes.port.ts";
import { createRenewedLeases, type RenewedLeases } from "../../../state/renewed-leases.ts";
import type { RenewedPresence } from "../../../state/renewed-presence.ts";
import { createTopics } from "../../../state/topics.ts";
import type { Connection } from "./connection.ts";
import { createScript } from "./script.ts";

/** The polling interval, in case a notification is lost. */
const LOOK_MS = 500;

/** A new listener also receives messages that were published this much earlier. */
const SLACK_MS = 1_000;

/** The number of messages to read at once. */
const PAGE = 500;

export const CHANGES = createScript(String.raw`
local changes = root .. "changes"

-- The leases of the process whose id the holder's begins with.
local function leasesOf(holder) return root .. "leases:" .. string.match(holder, "^[^:]*") end

local function isBefore(one, other)
  local ms, sequence = string.match(one, "(%d+)-(%d+)")
  local otherMs, otherSequence = string.match(other, "(%d+)-(%d+)")
  if ms ~= otherMs then return tonumber(ms) < tonumber(otherMs) end
  return tonumber(sequence) < tonumber(otherSequence)
end

if action == "publish" then
  redis.call("XADD", changes, "MAXLEN", "~", 10000, "*", "topic", ARGV[4], "data", ARGV[5])
  redis.call("PUBLISH", changes, "")
elseif action == "read" then
  local last = ARGV[4]
  local newest = redis.call("XREVRANGE", changes, "+", "-", "COUNT", 1)[1]
  if last == "" then
    last = string.format("%.0f-0", math.floor(server - ARGV[5]))
  elseif newest and isBefore(newest[1], last) then
    -- The messages were lost, and the clock was set back.
    last = "0-0"
  end
  local found = { last }
  for _, entry in ipairs(redis.call("XRANGE", changes, "(" .. last, "+", "COUNT", ARGV[6])) do
    found[1] = entry[1]
    found[#found + 1] = entry[2][2]
    found[#found + 1] = entry[2][4]
  end
  return found
end

local lease = root .. "lease:" .. ARGV[4]
local kept = redis.call("GET", lease)
local untilText, holder = string.match(kept or "", "^(%S+) (.*)$")
local isHeld = untilText and tonumber(untilText) > now
local isMine = isHeld and holder == ARGV[5]
if action == "acquire" and not isHeld or action == "renew" and isMine then
  local ttlMs = tonumber(ARGV[6])
  redis.call("SET", lease, exact(now + ttlMs) .. " " .. ARGV[5], "PX", math.ceil(ttlMs))
  if action == "acquire" then redis.call("SADD", leasesOf(ARGV[5]), ARGV[4]) end
  return 1
elseif action == "release" and isMine then
  redis.call("DEL", lease)
  redis.call("SREM", leasesOf(ARGV[5]), ARGV[4])
end
return 0
`);

/** Keeps messages in a stream. Every process reads it when it is notified. */
export function createRedisChanges(connection: Connection, clock: Clock): Changes & { close(): void } {
  /** The last message read. Empty at first, so the first read selects by time. */
  let last = "";
  let since = 0;
  const topics = createTopics(() => {
    [last, since] = ["", clock.now()];
    return connection.follow("changes", read, LOOK_MS);
  });

  async function read(): Promise<void> {
    for (;;) {
      if (topics.size === 0) return;
      const spanMs = clock.now() - since + SLACK_MS;
      const reply = await connection.run(CHANGES, "read", [last, String(spanMs), String(PAGE)]);
      const [newest = "", ...messages] = reply as readonly string[];
      last = newest;
      for (let index = 0; index < messages.length; index += 2)
        topics.tell([messages[index] ?? "", messages[index + 1] ?? ""]);
      if (messages.length < 2 * PAGE) return;
    }
  }

  return {
    async publish(topic, data, { signal } = {}) {
      await connection.run(CHANGES, "publish", [topic, JSON.stringify(data)], signal);
    },
    subscribe: topics.subscribe,
    close: topics.close,
  };
}

/** Creates leases that expire on the server. */
export function createRedisLeases(connection: Connection, clock: Clock, presence: RenewedPresence): RenewedLeases {
  const ask = async (action: string, values: readonly string[], signal?: AbortSignal): Promise<boolean> =>
    (await connection.run(CHANGES, action, values, signal)) === 1;
  const leases = createRenewedLeases(
    {
      acquire: (name, holder, ttlMs, signal) => ask("acquire", [name, holder, String(ttlMs)], signal),
      renew: (name, holder, ttlMs) => ask("renew", [name, holder, String(ttlMs)]),
      release: async (name, holder) => void (await ask("release", [name, holder])),
    },
    clock,
    presence,
  );
  // The server may have lost its data, including the lease.
  connection.watch((change) => {
    if (!(change instanceof Error)) leases.renewAll();
  });
  return leases;
}
