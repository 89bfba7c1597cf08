import { gzipSync } from "node:zlib";
import { type ArsenalError, fixable } from "../../../errors/arsenal-error.ts";
import type { Surroundings } from "../../surroundings.ts";
import type { Signal } from "./otlp.ts";
import { type PostAnswer, postOtlp } from "./post.ts";
import { type OpenTelemetrySinkOptions, resolveSettings, signalVariable, type Target } from "./settings.ts";

/** Sends an empty export of each signal. Resolves with the accepted signals. Rejects with CONFIG_INVALID and the fix. */
export async function checkCollector(
  settings: OpenTelemetrySinkOptions,
  { egress, clock, secrets, environment = process.env }: Surroundings,
): Promise<string> {
  const { targets } = resolveSettings(settings, environment);
  const accepted = new Map<string, Signal[]>();
  for (const [name, target] of Object.entries(targets)) {
    const signal = name as Signal;
    const answer = await postOtlp(emptyExport(target), { target, egress, clock, secrets });
    if (answer.error !== undefined) throw answer.error;
    if (answer.problem !== undefined) throw refused(signal, target, answer, accepted.size > 0);
    accepted.set(target.url.origin, [...(accepted.get(target.url.origin) ?? []), signal]);
  }
  if (accepted.size === 0) return "OTLP is off: no signal is sent";
  return Array.from(accepted, ([origin, signals]) => `${origin} accepts ${signals.join(", ")}`).join("; ");
}

/** Returns an empty request: `{}` in JSON, zero bytes in protobuf. */
function emptyExport({ protocol, gzip }: Target): Uint8Array {
  const plain = Buffer.from(protocol === "http/json" ? "{}" : "");
  return gzip ? gzipSync(plain) : plain;
}

function refused(signal: Signal, target: Target, answer: PostAnswer, hasAccepted: boolean): ArsenalError {
  const { problem = "", fix: ownFix = "", status } = answer;
  const failed = (why: string, field: string, fix: string): ArsenalError =>
    fixable("CONFIG_INVALID", `Cannot send ${signal}: ${why}.`, fix, { field });
  const { field } = target;
  if (status === undefined) return failed(problem, field, ownFix);
  if (status === 401 || status === 403) {
    const fix = "Correct the credentials in telemetry.otlp.headers, or in OTEL_EXPORTER_OTLP_HEADERS.";
    return failed(problem, "telemetry.otlp.headers", fix);
  }
  if (status === 415) {
    const other = target.protocol === "http/json" ? "http/protobuf" : "http/json";
    return failed(problem, "telemetry.otlp.protocol", `Set telemetry.otlp.protocol to ${other}.`);
  }
  if (status === 404 || status === 405) {
    const { href } = target.url;
    const isWhole = field === signalVariable(signal);
    const own = `telemetry.otlp.${signal}`;
    if (hasAccepted && !isWhole) {
      const fix = `Set ${own} to false, or correct ${field}.`;
      return failed(`${href} does not take ${signal} (status ${status})`, own, fix);
    }
    const address = isWhole
      ? `full address of the collector, which usually ends with /v1/${signal}`
      : `collector's address without /v1/${signal}`;
    return failed(`${href} does not exist (status ${status})`, field, `Set ${field} to the ${address}.`);
  }
  if (status >= 300 && status < 400)
    return failed(problem, field, `Set ${field} to the collector's final address. Redirects are not followed.`);
  return failed(problem, field, `Check the collector's log, and that ${field} is the collector.`);
}
