import { fixable } from "../../../errors/arsenal-error.ts";
import type { Administration } from "../../administration.ts";
import type { RestContext } from "../operation.ts";

/** Returns the actions of operators. A gateway that serves one toolset has none. */
export function administrationOf({ administration }: Pick<RestContext, "administration">): Administration {
  if (administration !== undefined) return administration;
  const problem = "This gateway serves only one toolset, so it has no operator operations.";
  throw fixable("PERMISSION_DENIED", problem, "Use a gateway that serves all tools.");
}
