import { readFileSync } from "node:fs";
import type { ClientIdentity } from "./connection.ts";
import type { JsonObject } from "./protocol.ts";

/** What a client declares when it can be asked. */
const ASKABLE: readonly string[] = ["elicitation", "sampling", "roots"];

let known: ClientIdentity | undefined;

/** Who we say we are to a server. We declare whatever a caller might be able to answer, so that servers offer it. */
export function ownIdentity(): ClientIdentity {
  const manifest = new URL("../../package.json", import.meta.url);
  return (known ??= {
    info: {
      name: "toolarsenal",
      title: "ToolArsenal",
      version: (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version,
    },
    capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
  });
}

/** The same capabilities without those that need somebody who answers. */
export function withoutAsking(capabilities: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(capabilities).filter(([name]) => !ASKABLE.includes(name)));
}
