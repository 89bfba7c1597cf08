import { basename } from "node:path";
import { installBundle, openBundle } from "./install/bundle.ts";
import { type FoundServer, type PreparedServer, prepareServer, type ServerHome, vetEntry } from "./prepare-server.ts";

/** Prepares the server of a bundle. Name and version come from the bundle's manifest. */
export async function prepareFromBundle(
  bytes: Buffer,
  file: string,
  home: ServerHome,
  options: { readonly as?: string | undefined; readonly signal?: AbortSignal | undefined },
): Promise<PreparedServer> {
  const label = basename(file);
  const opened = openBundle(bytes, label);
  const { name, version, description = "" } = opened.manifest;
  const server = { name: `bundle/${name.replaceAll(/[^A-Za-z0-9._-]+/g, "-")}`, version, description };
  const found: FoundServer = {
    entry: { registry: "bundle", server, status: "active" },
    allowPrivate: false,
    packageHosts: [],
  };
  await vetEntry(found, home);
  return prepareServer(found, (staging) => installBundle(opened, label, { staging }), home, options);
}
