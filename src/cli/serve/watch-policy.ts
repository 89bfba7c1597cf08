import { configuredPolicy } from "../../config/configured-policy.ts";
import type { ResolvedConfig } from "../../config/resolve-config.ts";
import { watchConfig, type WatchedConfig } from "../../config/watch-config.ts";
import { systemClock } from "../../observe/clock.ts";

/**
 * Says that the file of the policy changed, and whether it can be read. A policy holds from the start to the end: whoever adds a rule must not
 * believe that it holds already. Undefined where there is no such file.
 */
export async function watchPolicy(
  config: Pick<ResolvedConfig, "security">,
  tell: (text: string) => void,
): Promise<WatchedConfig | undefined> {
  const { policyFile } = config.security;
  if (policyFile === undefined) return undefined;
  return watchConfig([policyFile], {
    onChange() {
      try {
        configuredPolicy(config, systemClock);
        tell(`${policyFile} changed, and is in force after a restart.`);
      } catch (error) {
        tell(`${policyFile} changed, and cannot be used: ${error instanceof Error ? error.message : String(error)}`);
        tell("The policy that was there at the start stays in force.");
      }
    },
    onFailure: ({ message }) => tell(`Changes of ${policyFile} are not seen (${message}).`),
  });
}
