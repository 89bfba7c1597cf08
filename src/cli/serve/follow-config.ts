import type { ToolArsenal } from "../../arsenal.ts";
import { configChanges } from "../../config/config-changes.ts";
import { isArsenalError } from "../../errors/arsenal-error.ts";
import type { Configured } from "../open-arsenal.ts";

/** Takes a changed configuration into a running arsenal. */
export interface ConfigFollower {
  /** Reads the configuration again. Where it is invalid, the old one stays. */
  follow(): Promise<void>;
}

/** What following a configuration needs. */
export interface FollowParts {
  readonly arsenal: Pick<ToolArsenal, "addMcpServer" | "removeEnsemble">;
  readonly load: () => Promise<Configured>;
  /** Says what was done, on one line. */
  readonly tell: (text: string) => void;
  /** Called after servers came or left. */
  readonly changed: (configured: Configured) => void;
}

/** Follows a configuration: only servers that changed are touched, and the others stay connected. */
export function createFollower(start: Configured, { arsenal, load, tell, changed }: FollowParts): ConfigFollower {
  let current = start;
  return {
    async follow() {
      let next: Configured;
      try {
        next = await load();
      } catch (error) {
        for (const line of problemsOf(error)) tell(line);
        tell("The configuration was not reloaded: the old one stays in force.");
        return;
      }
      const { leaving, coming, needRestart } = configChanges(current, next);
      current = next;
      for (const name of leaving) await arsenal.removeEnsemble(name);
      for (const server of coming) await arsenal.addMcpServer(server, { patient: true });
      tell(`Configuration reloaded: ${summary(leaving, coming)}.`);
      if (needRestart.length > 0) tell(`Changed too, and in force after a restart: ${needRestart.join(", ")}.`);
      changed(next);
    },
  };
}

function summary(leaving: readonly string[], coming: readonly { readonly name: string }[]): string {
  const names = coming.map(({ name }) => name);
  const parts = [
    ["added", names.filter((name) => !leaving.includes(name))],
    ["replaced", names.filter((name) => leaving.includes(name))],
    ["removed", leaving.filter((name) => !names.includes(name))],
  ] as const;
  const said = parts.filter(([, list]) => list.length > 0).map(([word, list]) => `${word} ${list.join(", ")}`);
  return said.length === 0 ? "no server changed" : said.join("; ");
}

function problemsOf(error: unknown): readonly string[] {
  if (!isArsenalError(error)) return [error instanceof Error ? error.message : String(error)];
  const rest = error.details.issues?.slice(1, 20) ?? [];
  return [error.message, ...rest.map(({ field, message, fix = "" }) => `  ${field}: ${message}. ${fix}`)];
}
