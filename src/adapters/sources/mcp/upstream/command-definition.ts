import { looksSecret } from "../../../../guard/secrets/looks-secret.ts";
import { present } from "../../../../base/present.ts";
import type { StdioSettings } from "../settings.ts";

/** A server's command as a person accepts it. Secrets are named without their values, so a new key is not a new command. */
export function commandDefinition({ command, args, cwd, env }: StdioSettings): Readonly<Record<string, unknown>> {
  const shown = Object.entries(env ?? {}).map(([name, value]) => [name, looksSecret(name, value) ? "(secret)" : value]);
  return present({ command, args, cwd, env: env && Object.fromEntries(shown) });
}
