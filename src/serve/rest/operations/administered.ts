import { fixable } from "../../../errors/arsenal-error.ts";
import type { Administration } from "../../administration.ts";
import type { RestContext } from "../operation.ts";

/** Returns the actions of operators. A gateway that serves one toolset cannot be operated through it. */
export function administrationOf({ administration }: Pick<RestContext, "administration">): Administration {
  if (administration !== undefined) return administration;
  const problem = "This gateway serves one toolset only and cannot be operated.";
  throw fixable("PERMISSION_DENIED", problem, "Ask a gateway that serves everything.");
}
