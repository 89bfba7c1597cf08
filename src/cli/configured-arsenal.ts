import { resolve } from "node:path";
import { consoleSink } from "../adapters/sinks/console.ts";
import { defaultCache } from "../adapters/embedders/cached.ts";
import { ToolArsenal } from "../arsenal.ts";
import type { ToolArsenalParts } from "../config/arsenal-parts.ts";
import { asChecked, type ResolvedConfig } from "../config/resolve-config.ts";
import { runModule } from "../config/run-module.ts";
import type { Sink } from "../observe/sink.port.ts";
import type { Configured } from "./open-arsenal.ts";

/** Commands report these themselves, once, so they stay out of the configured console. */
const TOLD_BY_COMMANDS: ReadonlySet<string> = new Set([
  "ensemble-connected",
  "ensemble-failed",
  "confirmation-requested",
]);

/**
 * An arsenal by its configuration, with nothing in it yet: `fill` connects the servers, `loadDocuments` reads OpenAPI documents. Vectors are
 * cached unless the configuration says otherwise.
 */
export function createConfiguredArsenal(given: ResolvedConfig, parts: ToolArsenalParts = {}): ToolArsenal {
  const { environment = process.env } = parts;
  const embedder = { ...given.embedder, cache: given.embedder.cache ?? defaultCache(environment) };
  const config = asChecked({ ...given, embedder, mcp: { ...given.mcp, servers: [] }, openapi: [] });
  const { enabled, type, level } = config.telemetry;
  if (!enabled || type !== "console") return new ToolArsenal(config, parts);
  const sink = consoleSink({ level });
  const write: Sink["write"] = (events) => sink.write(events.filter(({ name }) => !TOLD_BY_COMMANDS.has(name)));
  const silent = asChecked({ ...config, telemetry: { ...config.telemetry, enabled: false } });
  return new ToolArsenal(silent, { ...parts, sinks: [...(parts.sinks ?? []), { ...sink, write }] });
}

/** Fills an arsenal with what its configuration names. The servers connect in their own time. */
export async function fill(arsenal: ToolArsenal, { config, folder, servers }: Configured): Promise<void> {
  for (const module of config.modules) await runModule(resolve(folder, module), module, arsenal);
  for (const server of servers) await arsenal.addMcpServer(server, { patient: true });
}
