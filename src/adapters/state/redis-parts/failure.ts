import { type ArsenalError, fixable, isArsenalError } from "../../../errors/arsenal-error.ts";
import { messageOf } from "../../../errors/show-value.ts";

/** Patterns of messages from the server or the system, each with the reason in plain words and the fix. */
const CAUSES: readonly (readonly [RegExp, string, string])[] = [
  [
    /ECONNREFUSED/,
    "connection refused",
    "Check that it is running and that state.url is right. It is retried every second.",
  ],
  [/ENOTFOUND|EAI_AGAIN/, "unknown host", "Check the host in state.url. It is retried every second."],
  [
    /^WRONGPASS|^ERR AUTH|invalid username-password/,
    "wrong user name or password",
    "Fix the user name and password in state.url.",
  ],
  [/^NOAUTH/, "a password is required", "Put it into state.url: redis://:${secret:env:REDIS_PASSWORD}@host:6379."],
  [
    /^NOPERM|executing the script can't/,
    "the user lacks permissions",
    "Grant the user the commands and keys in docs/reference/adapters/state/redis.md.",
  ],
  [/^OOM/, "it is out of memory", "Raise maxmemory; keep maxmemory-policy at noeviction."],
  [/^MISCONF/, "it cannot write to its disk", "Free space on its disk."],
  [/^READONLY/, "it is a replica", "Name the primary in state.url. It is retried every second."],
  [/^LOADING/, "it is loading its data", "It is retried every second."],
  [/^ERR unknown command.*HELLO/i, "it is too old", "Use Redis 6.2 or later, or Valkey."],
  [/Unknown RESP type|decode/, "the server at this address is not Redis", "Check the host and port in state.url."],
  [
    /certificate/i,
    "its certificate is not trusted",
    "Start Node with NODE_EXTRA_CA_CERTS set to your authority's file, and check the host in state.url.",
  ],
  [/no answer within/, "it does not answer", "Check that it is running. It is retried every second."],
  [/socket closed|ECONNRESET|EPIPE|disconnect/i, "the connection was lost", "It is retried every second."],
];

/** Creates the error for the user. It names the server, but never a password. */
export function toFailure(error: unknown, address: string, beforeSend: boolean): ArsenalError {
  if (isArsenalError(error)) return error;
  // Several addresses of one host were tried.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const message = messageOf(first);
  const [, why, fix] = CAUSES.find(([pattern]) => pattern.test(message)) ?? [
    undefined,
    message.replace(/\.$/, ""),
    "It is retried every second.",
  ];
  const details = { field: "state.url", beforeSend, cause: first };
  return fixable("STORE_FAILED", `Cannot use Redis at ${address}: ${why}.`, fix, details);
}
