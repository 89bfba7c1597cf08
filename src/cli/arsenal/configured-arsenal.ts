import { defaultCache } from "../../adapters/embedders/cached.ts";
import { ToolArsenal } from "../../arsenal.ts";
import type { ToolArsenalParts } from "../../config/parts/arsenal-parts.ts";
import { asChecked, type ResolvedConfig } from "../../config/load/resolve-config.ts";
import type { EventName } from "../../observe/events.ts";
import type { Terminal } from "../command.ts";
import { eventSink, protocolSink } from "../terminal/event-sink.ts";

/** Commands report these themselves, except that TOML descriptors failed. */
const TOLD_BY_COMMANDS: readonly EventName[] = [
  "mcp-message",
  "ensemble-connected",
  "ensemble-failed",
  "confirmation-requested",
];

/** Who reads what an arsenal reports. */
export interface Reader extends Pick<Terminal, "err" | "environment"> {
  readonly json: boolean;
  /** Further events that the command reports itself; `all` of them when it has its own report. */
  readonly told?: readonly EventName[] | "all";
  /** Writes every message to and from MCP servers, whatever the level of the log. */
  readonly debugProtocol?: boolean;
}

/** Creates the arsenal of a configuration; `boot` starts it. Warnings go to the reader unless telemetry is off. Vectors are cached by default. */
export function createConfiguredArsenal(
  given: ResolvedConfig,
  reader: Reader,
  parts: ToolArsenalParts = {},
): ToolArsenal {
  const { enabled = true, type = "console", level = "warn", logFormat: format, logLevels: levels } = given.telemetry;
  const { environment, json, told = [] } = reader;
  const embedder = { ...given.embedder, cache: given.embedder.cache ?? defaultCache(environment) };
  const debugProtocol = reader.debugProtocol === true || given.telemetry.debugProtocol;
  // The console sink is replaced by one that knows what commands report themselves. Other sinks work beside it.
  const isElsewhere = enabled && type !== "console";
  const telemetry = { ...given.telemetry, debugProtocol, enabled: isElsewhere };
  const config = asChecked({ ...given, embedder, telemetry });
  const messages = debugProtocol ? [protocolSink(reader)] : [];
  const all = { environment, ...parts, sinks: [...(parts.sinks ?? []), ...messages] };
  if (!enabled || told === "all") return new ToolArsenal(config, all);
  const without = new Set([...TOLD_BY_COMMANDS, ...told]);
  const sink = eventSink(reader, { level, levels, format, json, without });
  return new ToolArsenal(config, { ...all, sinks: [...all.sinks, sink] });
}
