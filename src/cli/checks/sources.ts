import type { WorkflowsSource } from "../../adapters/sources/workflows/workflows.ts";
import type { McpUpstream } from "../../adapters/sources/mcp/upstream/upstream.ts";
import { internalsOf } from "../../arsenal.ts";
import { isArsenalError } from "../../errors/arsenal-error.ts";
import { count } from "../../errors/show-value.ts";
import { hasSecret, isPerCaller } from "../../guard/secrets/reference.ts";
import { createSecrets } from "../../guard/secrets/secrets.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import type { SourceReport } from "../../config/start/start-configured.ts";
import type { StartedGateway } from "./checks.ts";
import { failed, failure, failures, type Finding, ok, warning } from "./finding.ts";

/** Checks the MCP servers. Each was tried once, within its own deadline. */
export async function checkServers({ arsenal }: StartedGateway): Promise<readonly Finding[]> {
  return Promise.all(internalsOf(arsenal).upstreams.map(checkServer));
}

async function checkServer(upstream: McpUpstream): Promise<Finding> {
  const { name: check, state } = upstream;
  if (state.error !== undefined) {
    const found = failure(check, state.error);
    const { code, details } = isArsenalError(state.error) ? state.error : {};
    const waitsForPin = code === "PERMISSION_DENIED" && details?.field === "command";
    return waitsForPin ? { ...found, state: "warning" } : found;
  }
  if (state.kind !== "connected") return failed(check, `is ${state.kind}`);
  try {
    const { length } = await upstream.list("tools");
    return ok(check, `connected, ${count(length, "tool")} (${state.protocolVersion})`);
  } catch (error) {
    return failure(check, error);
  }
}

/** Checks the other sources: their problems, and tools without a function to run them. */
export function checkSources({ arsenal, reports }: StartedGateway): readonly Finding[] {
  const servers = new Set(internalsOf(arsenal).upstreams.map(({ name }) => name));
  return reports.filter(({ name }) => !servers.has(name)).flatMap(checkSource);
}

/** Returns the number of a source's tools. A workflow becomes a tool after its source was added, once all tools that it calls are registered. */
export function toolsOf({ tools = 0, source }: SourceReport): number {
  return source?.kind === "workflow" ? (source as WorkflowsSource).workflows.length : tools;
}

function checkSource(report: SourceReport): readonly Finding[] {
  const { name: check, place, error, source } = report;
  const tools = toolsOf(report);
  if (error !== undefined) return failures(check, error);
  const found = (source?.findings?.() ?? []).flatMap(
    ({ state, tool, message, fix, error: cause }): readonly Finding[] => {
      const about = tool === undefined ? check : `${check}.${tool}`;
      if (cause !== undefined) return failures(about, cause).map((each) => ({ ...each, reported: cause.message }));
      return [{ check: about, state, message, fix }];
    },
  );
  if (found.some((finding) => finding.check === check)) return found;
  const fix = "Check its settings, and list waiting pins with: toolarsenal pins list";
  const own =
    tools > 0 || found.length > 0
      ? ok(check, `${count(tools, "tool")} from ${place}`)
      : warning(check, `no tool of ${place} is used`, fix);
  return [own, ...found];
}

/** Resolves every secret that a source or the gateway refers to, because calls would fail without it. */
export async function checkSecrets({ configured, terminal: { environment } }: StartedGateway) {
  const { config, sources } = configured;
  const secrets = createSecrets({ environment });
  const { a2a, security, builtins } = config;
  const search = builtins.tools.includes("web-search") ? builtins.webSearch.apiKey : undefined;
  const uses = [
    ...sources.flatMap(({ name, settings }) => {
      const { credentials, headers } = settings as { readonly credentials?: unknown; readonly headers?: unknown };
      // Other sources send their headers when they connect, and would fail then.
      const sent = settings.type === "openapi" ? textsIn(headers, "headers") : {};
      return Object.entries({ ...textsIn(credentials, "credentials"), ...sent }).map(([field, text]) => {
        return { check: name, scope: name, field, text };
      });
    }),
    ...Object.entries({
      "a2a.signing_key": a2a.signingKey,
      "security.approval_webhook.secret": security.approvalWebhook?.secret,
      "builtins.web_search.api_key": search,
    }).map(([field, text]) => ({ check: "secrets", scope: field.split(".")[0] ?? "", field, text })),
  ];
  // Concurrent, because a secret manager may take a second for each secret.
  const found = uses.map(async ({ check, scope, field, text }): Promise<readonly Finding[]> => {
    if (typeof text !== "string" || !hasSecret(text) || isPerCaller(text)) return [];
    try {
      await secrets.fill(text, { scope, field });
      return [];
    } catch (error) {
      return failures(check, error);
    }
  });
  return (await Promise.all(found)).flat();
}

/** Returns the texts in a setting, by their paths. */
function textsIn(value: unknown, path: string): Readonly<Record<string, string>> {
  if (typeof value === "string") return { [path]: value };
  if (!isPlainObject(value)) return {};
  return Object.assign(
    {},
    ...Object.entries(value).map(([key, member]) => textsIn(member, `${path}.${key}`)),
  ) as Record<string, string>;
}
