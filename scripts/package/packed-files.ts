import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The folder of the package. */
export const ROOT: string = fileURLToPath(new URL("../../", import.meta.url));

/** What `npm pack` would write, without its scripts: the build must be there. Sizes are in bytes. */
export interface Packed {
  /** The size of the archive. */
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

/** Asks npm which files it packs. Takes some seconds: npm compresses them to know the size. */
export function packedFiles(): Packed {
  const output = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    maxBuffer: 64 * 2 ** 20,
    shell: process.platform === "win32",
  });
  const [packed] = JSON.parse(output) as readonly Packed[];
  if (packed === undefined) throw new Error("npm pack printed no package.");
  return packed;
}
