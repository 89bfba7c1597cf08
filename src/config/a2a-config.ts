import type { A2aAgentSettings } from "../adapters/sources/a2a/settings.ts";
import { showValue } from "../errors/show-value.ts";
import { toNamespace } from "../tool/normalise/slug.ts";
import type { ServerProblem } from "./clients/server-problem.ts";
import { literalSecret, toCredentials } from "./credentials-config.ts";
import type { ResolvedConfig } from "./load/resolve-config.ts";

/** The agents a configuration names, as the arsenal takes them. Invalid ones are reported; the rest still load. */
export function toA2aAgents(config: Pick<ResolvedConfig, "a2a" | "mcp" | "openapi">): {
  readonly agents: readonly A2aAgentSettings[];
  readonly problems: readonly ServerProblem[];
} {
  const agents: A2aAgentSettings[] = [];
  const problems: ServerProblem[] = [];
  const taken = new Set([...config.mcp.servers, ...config.openapi].map(({ name }) => toNamespace(name)));
  for (const { disabled = false, name: writtenAs, namespace, credentials, ...rest } of config.a2a.agents) {
    if (disabled) continue;
    const name = toNamespace(writtenAs);
    const secret = literalSecret(writtenAs, credentials ?? {});
    if (taken.has(name)) {
      const message = `is ${showValue(writtenAs)}, and another server, API or agent already has that name`;
      problems.push({ server: writtenAs, field: "name", value: writtenAs, message, fix: "Give each its own name." });
    } else if (secret !== undefined) problems.push(secret);
    else {
      taken.add(name);
      agents.push({
        ...rest,
        name,
        ...(namespace === undefined ? {} : { namespace: toNamespace(namespace) }),
        ...(credentials === undefined ? {} : { credentials: toCredentials(credentials) }),
      });
    }
  }
  return { agents, problems };
}
