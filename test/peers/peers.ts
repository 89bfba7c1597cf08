import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const FOLDERS = ["./node_modules/", "../../node_modules/"].map((folder) => new URL(folder, import.meta.url));

/** What a peer's package says of itself. */
interface Manifest {
  readonly version: string;
  readonly bin?: string | Readonly<Record<string, string>>;
}

/** A program of a package: what to run with Node, and which version that is. */
export interface PeerProgram {
  readonly file: string;
  readonly version: string;
}

/** True if test/peers is installed. Throws in CI if it is not. */
export function peersInstalled(): boolean {
  const installed = areInstalled(new URL("./", import.meta.url));
  if (!installed && process.env["CI"] !== undefined)
    throw new Error("test/peers is not installed: run scripts/ci-services first");
  return installed;
}

/** Throws if test/peers is not installed. */
export function requirePeers(folder: URL = new URL("./", import.meta.url)): void {
  if (!areInstalled(folder)) throw new Error(PEERS_ABSENT);
}

function areInstalled(folder: URL): boolean {
  return existsSync(new URL("./node_modules/.package-lock.json", folder));
}

/** The message if test/peers is needed and not installed. */
export const PEERS_ABSENT = "test/peers is not installed. Run: node test/peers/install.ts";

/** The program that a package of the project or of test/peers installs. */
export function peerProgram(name: string, program?: string): PeerProgram {
  for (const folder of FOLDERS) {
    const file = new URL(`${name}/package.json`, folder);
    if (!existsSync(file)) continue;
    const { bin = {}, version } = JSON.parse(readFileSync(file, "utf8")) as Manifest;
    const path = typeof bin === "string" ? bin : program === undefined ? Object.values(bin)[0] : bin[program];
    if (path === undefined) throw new Error(`${name} has no program ${program ?? ""}`);
    return { file: fileURLToPath(new URL(path, file)), version };
  }
  throw new Error(`${name} is not installed. ${PEERS_ABSENT}`);
}

/** Imports a package that only test/peers has: it is found because this file lies there. */
export async function importPeer<Module>(name: string): Promise<Module> {
  return (await import(/* @vite-ignore */ name)) as Module;
}

/** The browser that playwright can drive; undefined where there is none. A machine of CI that installs one must have it. */
export function chromium(): string | undefined {
  // The headless shell has no windows to manage: it loads a page in less than half of the processor time.
  const names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const found = folders.flatMap((folder) => names.map((name) => join(folder, name))).find(runnable);
  if (found === undefined && process.env["CI"] !== undefined)
    throw new Error("There is no chromium: run scripts/ci-services first");
  return found;
}

function runnable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
