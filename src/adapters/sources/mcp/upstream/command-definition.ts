import { looksSecret } from "../../../../guard/secrets/looks-secret.ts";
import { present } from "../../../../base/present.ts";
import type { StdioSettings } from "../settings.ts";

/** Returns the command of a server, as a person approves it. Secrets appear as names without values, so a new value needs no new approval. */
export function commandDefinition({ command, args, cwd, env }: StdioSettings): Readonly<Record<string, unknown>> {
  const shown = Object.entries(env ?? {}).map(([name, value]) => [name, looksSecret(name, value) ? "(secret)" : value]);
  return present({ command, args, cwd, env: env && Object.fromEntries(shown) });
}
