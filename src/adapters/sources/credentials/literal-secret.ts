import { readReference } from "../../../guard/secrets/reference.ts";
import type { SettingProblem } from "../source-adapter.ts";
import type { Credential } from "./settings.ts";

/** Returns the problem with the first secret that is written out instead of referenced; undefined if there is none. */
export function literalSecret({
  credentials = {},
}: {
  readonly credentials?: Readonly<Record<string, Credential>>;
}): SettingProblem | undefined {
  for (const [scheme, credential] of Object.entries(credentials)) {
    const parts =
      typeof credential === "object"
        ? Object.entries(credential).filter(([key]) => key === "password" || key === "clientSecret")
        : [["", credential] as const];
    for (const [key, secret] of parts) {
      if (typeof secret !== "string" || readReference(secret) !== undefined) continue;
      const part = key === "" ? "" : `.${key === "clientSecret" ? "client_secret" : key}`;
      const fix = "Write env:NAME, with the environment variable that holds it, or file:/path.";
      return { field: `credentials.${scheme}${part}`, message: "is not a reference to a secret", fix };
    }
  }
  return undefined;
}
