import { programIdentity } from "../system/program-identity.ts";
import { APP_SETTINGS, EXTENSIONS } from "./extensions.ts";
import type { ClientIdentity } from "./connection.ts";
import type { JsonObject } from "./protocol.ts";

/** The capabilities that let a server send requests to a client. */
const ASKABLE: readonly string[] = ["elicitation", "sampling", "roots"];

let known: ClientIdentity | undefined;

/** Our identity towards a server. It declares every capability that a caller might have, so that servers offer features that need it. */
export function ownIdentity(): ClientIdentity {
  return (known ??= {
    info: programIdentity(),
    capabilities: {
      elicitation: { form: {}, url: {} },
      sampling: {},
      roots: {},
      extensions: { [EXTENSIONS.tasks]: {}, [EXTENSIONS.apps]: APP_SETTINGS },
    },
  });
}

/** Returns the capabilities without those that need a client to answer requests. */
export function withoutAsking(capabilities: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(capabilities).filter(([name]) => !ASKABLE.includes(name)));
}
