import { readFileSync } from "node:fs";

let version: string | undefined;

/** The name and version of this program, for servers, clients and telemetry. */
export function programIdentity(): { readonly name: string; readonly title: string; readonly version: string } {
  const manifest = new URL("../../package.json", import.meta.url);
  version ??= (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
  return { name: "toolarsenal", title: "ToolArsenal", version };
}
