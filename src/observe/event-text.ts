import { count, harmless } from "../errors/show-value.ts";
import type { ArsenalEvent } from "./events.ts";

/** Formats an event as one line of text. */
export function eventText(event: ArsenalEvent): string {
  return onOneLine(inWords(event), event.name === "mcp-message" ? 8_192 : 500);
}

function inWords({ name, data }: ArsenalEvent): string {
  switch (name) {
    case "tool-rejected":
    case "pins-waiting":
    case "secret-skipped":
    case "card-unverified":
    case "certificate-failed":
      return data.message;
    case "toolset-tools-missing":
      return `The toolset ${data.toolset} is incomplete: ${data.message}`;
    case "tool-conflicted":
      return `The catalog holds another definition of ${data.toolId} (${data.fields}), written by another process. It is not used here. If it should not be there, reload ${data.ensemble === undefined ? "the process that registers the tool" : `the ensemble ${data.ensemble}`}, which writes its own again.`;
    case "tool-changed":
      return `${data.id} changed since it was accepted (${data.fields})${data.id.endsWith("#command") ? "" : " and is not called"}. See: toolarsenal pins list --diff`;
    case "pins-failed":
    case "ensemble-failed":
      return `${data.ensemble}: ${data.message}`;
    case "mcp-message":
      return `${data.server} ${data.direction === "sent" ? "<-" : "->"} ${data.message}`;
    case "namespace-refused":
      return `${data.ensemble} claimed the namespace ${data.namespace}, which is not its own; its tool is ${data.toolId}`;
    case "embedder-failed":
      return `The embedder ${data.model} failed: ${data.message}`;
    case "call-retried":
      return `${data.toolId}: attempt ${data.attempt} failed, retrying in ${Math.round(data.delayMs)} ms: ${data.message}`;
    case "retry-refused":
      return `${data.toolId}: attempt ${data.attempt} failed, and the retry budget is used up`;
    case "call-finished":
      return `${data.toolId}: ${data.status}${data.message === undefined ? "" : `: ${data.message}`}`;
    case "scan-flagged":
      return `${data.toolId}: ${data.severity} finding in its ${data.where} (${data.rules.join(", ")}), ${data.action}`;
    case "scan-failed":
      return `${data.toolId}: its ${data.where} could not be scanned and was ${data.action}: ${data.message}`;
    case "audit-failed":
      return `${count(data.records, "audit record")} not kept: ${data.message}`;
    case "audit-restored":
      return `the audit log works again; ${count(data.records, "record")} missing`;
    case "circuit-opened":
      return `${data.toolId}: circuit opened after ${data.consecutiveFailures} failures; next attempt in ${Math.ceil(data.retryAfterMs / 1000)} s`;
    case "quota-reached":
      return data.kind === "budget"
        ? `The tenant ${data.tenant} has spent ${data.percent} % of its budget of the ${data.period}`
        : `The tenant ${data.tenant} reached the ${data.kind} limit of ${data.limit} ${data.unit} of the ${data.period}`;
    case "sink-failed":
      return `The sink ${data.sink} failed and lost ${data.dropped} events: ${data.message}`;
    default:
      return [
        name,
        ...Object.entries(data).map(
          ([key, value]) => `${key}=${typeof value === "object" ? JSON.stringify(value) : String(value)}`,
        ),
      ].join(" ");
  }
}

/** Formats third-party text on one line, without terminal control characters, and truncates it with an ellipsis. */
export function onOneLine(text: string, width: number): string {
  const line = harmless(text).replaceAll(/\s+/g, " ").trim();
  return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`;
}
