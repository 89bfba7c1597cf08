import { messageOf } from "../../errors/show-value.ts";
import type { ToolArsenal } from "../../arsenal.ts";
import type { ResolvedConfig } from "../../config/load/resolve-config.ts";
import { watchConfig, type WatchedConfig } from "../../system/watch-files.ts";

/** Applies the policy file whenever it changes. An invalid one is reported, and the old policy stays. Undefined if no policy file is configured. */
export async function watchPolicy(
  { security: { policyFile } }: Pick<ResolvedConfig, "security">,
  arsenal: Pick<ToolArsenal, "reloadPolicy">,
  tell: (text: string) => void,
  known?: readonly (string | undefined)[],
): Promise<WatchedConfig | undefined> {
  if (policyFile === undefined) return undefined;
  return watchConfig([policyFile], {
    ...(known === undefined ? {} : { known }),
    onChange() {
      try {
        arsenal.reloadPolicy();
        tell(`Policy reloaded: ${policyFile} is in force for new calls.`);
      } catch (error) {
        tell(`Cannot use the changed policy: ${messageOf(error)}`);
        tell("The old policy stays in force.");
      }
    },
    onFailure: ({ message }) => tell(`Cannot watch ${policyFile} (${message}). Send SIGHUP to reload it.`),
  });
}
