import type { A2aAgentSettings } from "../../../adapters/sources/a2a/settings.ts";
import type { Clock } from "../../../observe/clock.ts";
import { type DocumentReport, loaded, type Startable } from "../start-configured.ts";

/** Agents that are being connected. */
export interface ConnectingAgents {
  /** Resolves once each agent was tried once, with how it fared. Never rejects. */
  readonly reports: Promise<readonly DocumentReport[]>;
  /** Ends the retries. */
  close(): void;
}

const FIRST_RETRY_MS = 5000;
const MAX_RETRY_MS = 300_000;

/** Connects agents, all at once. One that cannot be reached is retried in the background, and its tools appear once it answers. */
export function connectAgents(
  agents: readonly A2aAgentSettings[],
  { addA2aAgent, isClosed }: Pick<Startable, "addA2aAgent" | "isClosed">,
  clock: Clock,
): ConnectingAgents {
  const retries = new Map<string, () => void>();

  async function connect(agent: A2aAgentSettings, retryMs: number): Promise<DocumentReport> {
    const report = await loaded("A2A", agent.name, agent.url, () => addA2aAgent(agent));
    if (report.error !== undefined && !isClosed()) {
      const again = (): void => void connect(agent, Math.min(retryMs * 2, MAX_RETRY_MS));
      retries.set(agent.name, clock.after(retryMs, again, { background: true }));
    }
    return report;
  }

  return {
    reports: Promise.all(agents.map((agent) => connect(agent, FIRST_RETRY_MS))),
    close: () => retries.forEach((cancel) => cancel()),
  };
}
