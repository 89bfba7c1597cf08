import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL(`./main${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url));

/** The command that a user types to start this program. A clone of the repository has no installed command. */
export const PROGRAM: string = MAIN.endsWith(".ts") ? "npm run -s cli --" : "npx toolarsenal";

/** Returns the command with which another program starts this one. Under npx it uses npx, because npx may delete its cache. */
export function startedBy(args: readonly string[]): { readonly command: string; readonly args: readonly string[] } {
  if (/[\\/]_npx[\\/]/.test(MAIN)) return { command: "npx", args: ["-y", "toolarsenal", ...args] };
  return { command: process.execPath, args: [MAIN, ...args] };
}
