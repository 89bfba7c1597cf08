/** Matches `key=value`. A key names a system, or a tenant and a system: `tenant@system`. */
const MEMBER =
  /^([a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})=[ -+\--<>-~]{0,255}[!-+\--<>-~]$/;
const MAX_MEMBERS = 32;
const MAX_LENGTH = 512;
/** Members longer than this are dropped first. */
const LONG_MEMBER = 128;
/** The maximum length that is read: 32 members with the longest key and value. */
const MAX_READ = 16_640;

/** Parses the header `tracestate`, cut to 512 characters. Returns undefined if it is invalid or empty. */
export function readTracestate(header: unknown): string | undefined {
  if (typeof header !== "string" || header.length > MAX_READ) return undefined;
  const members = new Map<string, string>();
  let count = 0;
  for (const part of header.split(",")) {
    const member = part.trim();
    if (member === "") continue;
    const [, key] = MEMBER.exec(member) ?? [];
    if (key === undefined || ++count > MAX_MEMBERS) return undefined;
    if (!members.has(key)) members.set(key, member);
  }
  const kept = [...members.values()];
  // Without a long member, the index is -1, which removes the last member.
  while (kept.join(",").length > MAX_LENGTH)
    kept.splice(
      kept.findLastIndex(({ length }) => length > LONG_MEMBER),
      1,
    );
  return kept.length === 0 ? undefined : kept.join(",");
}

/** Returns the headers `traceparent` and `tracestate` for a handler's request. Returns undefined if its call has no W3C trace. */
export function traceHeadersOf(
  sent: { readonly traceparent?: string | undefined; readonly tracestate?: string | undefined } | undefined,
): { readonly traceparent: string; readonly tracestate?: string } | undefined {
  const { traceparent, tracestate } = sent ?? {};
  if (traceparent === undefined) return undefined;
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate };
}
