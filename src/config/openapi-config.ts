import type { OpenApiSettings } from "../adapters/sources/openapi/settings.ts";
import { showValue } from "../errors/show-value.ts";
import { literalSecret, toCredentials } from "./credentials-config.ts";
import { toNamespace } from "../tool/normalise/slug.ts";
import type { ResolvedConfig } from "./load/resolve-config.ts";
import type { ServerProblem } from "./clients/server-problem.ts";

/** A configured document: its name fits a namespace, and the one that was written is kept. */
export interface ConfiguredDocument {
  readonly writtenAs: string;
  readonly settings: OpenApiSettings & { readonly document: string };
}

/** Whether a document is a file of this machine. */
export function isLocalDocument(document: string): boolean {
  return !/^https?:/i.test(document);
}

/** The documents a configuration names, as the arsenal takes them. Invalid ones are reported; the rest still load. */
export function toOpenApis(config: Pick<ResolvedConfig, "openapi" | "mcp">): {
  readonly documents: readonly ConfiguredDocument[];
  readonly problems: readonly ServerProblem[];
} {
  const documents: ConfiguredDocument[] = [];
  const problems: ServerProblem[] = [];
  const taken = new Set(config.mcp.servers.map(({ name }) => toNamespace(name)));
  for (const entry of config.openapi) {
    if (entry.disabled === true) continue;
    const { name: writtenAs, namespace, baseUrl, credentials = {}, disabled: _disabled, ...rest } = entry;
    const name = toNamespace(writtenAs);
    if (taken.has(name)) {
      const message = `is ${showValue(writtenAs)}, and another MCP server or API already has that name`;
      problems.push({ server: writtenAs, field: "name", value: writtenAs, message, fix: "Give each its own name." });
      continue;
    }
    const problem = literalSecret(writtenAs, credentials);
    if (problem !== undefined) {
      problems.push(problem);
      continue;
    }
    taken.add(name);
    documents.push({
      writtenAs,
      settings: {
        ...rest,
        name,
        ...(namespace === undefined ? {} : { namespace: toNamespace(namespace) }),
        ...(baseUrl === undefined ? {} : { server: baseUrl }),
        credentials: toCredentials(credentials),
      },
    });
  }
  return { documents, problems };
}
