import type { ArsenalEvent, EventLevel } from "../../../observe/events.ts";
import { type AttributeLimits, type AttributeValue, clip, withinLimits } from "./attributes.ts";
import { toTraceId } from "./spans.ts";

const SEVERITY: Readonly<Record<EventLevel, number>> = { debug: 5, info: 9, warn: 13, error: 17 };

/** Fields with a place of their own in a record. */
const OWN: ReadonlySet<string> = new Set(["traceId", "spanId", "message", "steps"]);

/** Converts an event to a log record. Everything except its message becomes attributes with the prefix `toolarsenal.`. */
export function toLogRecord({ name, level, at, data }: ArsenalEvent, limits: AttributeLimits): object {
  const { traceId, spanId, message, ...others } = data as Readonly<Record<string, unknown>>;
  const attributes: Record<string, AttributeValue> = {};
  for (const [key, value] of Object.entries(others))
    if (!OWN.has(key)) attributes[`toolarsenal.${toSnakeCase(key)}`] = toAttribute(value, limits);
  const text = typeof message === "string" ? message : name;
  return {
    at,
    observedAt: at,
    severityNumber: SEVERITY[level],
    severityText: level.toUpperCase(),
    eventName: `toolarsenal.${name}`,
    body: { stringValue: clip(text, limits.maxLength) },
    ...withinLimits(attributes, limits),
    ...(typeof traceId === "string" && { traceId: toTraceId(traceId), flags: 1 }),
    ...(typeof spanId === "string" && /^[0-9a-f]{16}$/.test(spanId) && { spanId }),
  };
}

function toAttribute(value: unknown, { maxLength }: AttributeLimits): AttributeValue {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value;
  return value === undefined ? undefined : clip(JSON.stringify(value) ?? "", maxLength);
}

function toSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
