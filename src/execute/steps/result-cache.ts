import type { Clock } from "../../observe/clock.ts";
import { canonicalJson } from "../../tool/json/canonical-json.ts";
import { sha256 } from "../../base/crypto.ts";
import type { Handler } from "../../tool/handler.ts";
import type { Tool } from "../../tool/tool.ts";
import { copyArguments } from "../arguments/copy-arguments.ts";
import type { Outcome } from "../outcome.ts";
import type { CheckedCall } from "../running-call.ts";
import type { ResultCacheSettings } from "../settings.ts";
import type { Permission } from "./ask-aegis.ts";
import { groupOf } from "./handler-context.ts";
import { isConfirmedReadOnly } from "./retry.ts";

export interface CacheEntry {
  /** Returns a new copy of the cached result; undefined if there is none, or the call requests a fresh one. */
  read(): Outcome | undefined;
  /** Stores a successful result as the tool returned it. The guard applies to each read. */
  keep(outcome: Outcome): void;
}

interface CachedResult {
  readonly toolId: string;
  /** Compared on each read, because a tool that is registered again has a new handler. */
  readonly handler: Handler | undefined;
  /** `{ value }` as JSON. */
  readonly text: string;
  readonly answers: boolean;
  readonly bytes: number;
  readonly expiresAt: number;
}

/** Caches the results of read-only tools per caller. Each process has its own cache. Evicts the least recently used result first. */
export function createResultCache(
  { ttlMs, maxBytes, maxEntries, covers = () => true }: ResultCacheSettings,
  clock: Clock,
) {
  const entries = new Map<string, CachedResult>();
  let bytes = 0;
  /** The number of possible changes to each ensemble's data. Part of the key, so a result that was read during a change is never returned. */
  const changes = new Map<string, number>();

  function drop(key: string): void {
    bytes -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  }

  function keep(key: string, kept: CachedResult): void {
    drop(key);
    if (kept.bytes > maxBytes) return;
    entries.set(key, kept);
    bytes += kept.bytes;
    for (const oldest of entries.keys()) {
      if (entries.size <= maxEntries && bytes <= maxBytes) break;
      drop(oldest);
    }
  }

  return {
    /** Returns the cache entry of a call; undefined if its tool must run each time. */
    entryOf(checked: CheckedCall, permission: Permission): CacheEntry | undefined {
      const { tool, handler, call } = checked;
      if (!isConfirmedReadOnly(tool) || !covers(tool)) return undefined;
      const key = keyOf(checked, permission, changes.get(groupOf(tool)) ?? 0);
      if (key === undefined) return undefined;
      return {
        read() {
          if (call.cache === false) return undefined;
          const kept = entries.get(key);
          if (kept === undefined) return undefined;
          entries.delete(key);
          if (kept.handler !== handler || kept.expiresAt <= clock.now()) {
            bytes -= kept.bytes;
            return undefined;
          }
          entries.set(key, kept);
          const { value: result } = JSON.parse(kept.text) as { readonly value?: unknown };
          return { status: "success", result, cached: true, ...(kept.answers && { answer: { result } }) };
        },
        keep({ status, result, answer }) {
          if (status !== "success" || requestOf(checked)?.reuse?.isFinal(result) === false) return;
          const text = toJson(result);
          if (text === undefined) return;
          const size = Buffer.byteLength(text) + key.length;
          const expiresAt = clock.now() + ttlMs;
          keep(key, { toolId: tool.id, handler, text, answers: answer !== undefined, bytes: size, expiresAt });
        },
      };
    },
    /** Drops the cached results of the tool's group if the call may have changed their data. */
    noteRun(tool: Tool): void {
      if (isConfirmedReadOnly(tool)) return;
      const group = groupOf(tool);
      changes.set(group, (changes.get(group) ?? 0) + 1);
    },
    forget(toolId: string): void {
      for (const [key, kept] of entries) if (kept.toolId === toolId) drop(key);
    },
  };
}

/** The client's request, if the tool's handler gets it. */
function requestOf({ call, tool }: CheckedCall): CheckedCall["call"]["request"] {
  return call.request?.source === tool.source ? call.request : undefined;
}

/** Returns everything that the result can depend on; undefined if that is unknown, or if a person approved this specific call. */
function keyOf(checked: CheckedCall, permission: Permission, change: number): string | undefined {
  const { tool, call, principal, request: asked } = checked;
  if (permission.confirmationId !== undefined || call.confirmationId !== undefined) return undefined;
  const request = requestOf(checked);
  if (request !== undefined && request.reuse === undefined) return undefined;
  const auxdata = call.auxdata === undefined ? "" : toJson(call.auxdata, canonicalJson);
  if (auxdata === undefined) return undefined;
  const parts = [
    change,
    tool.id,
    tool.contentHash,
    asked.arguments,
    [principal.id, principal.tenant ?? null],
    call.toolset ?? null,
    auxdata,
    permission.obligations?.egress ?? null,
    request?.reuse?.key() ?? null,
  ];
  return sha256(canonicalJson(parts), "base64url");
}

/** Returns `{ value }` as JSON; undefined if JSON cannot represent the value exactly. */
function toJson(value: unknown, write: (value: unknown) => string = JSON.stringify): string | undefined {
  try {
    return write(copyArguments({ value }).arguments);
  } catch {
    return undefined;
  }
}
