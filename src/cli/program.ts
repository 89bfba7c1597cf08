import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL(`./main${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url));

/** The command that a user types to start this program. In a clone there is no installed command. */
export const PROGRAM: string = MAIN.endsWith(".ts") ? "npm run -s cli --" : "npx toolarsenal";

/** The command with which another program starts this one. Under npx it is npx itself, because npx may delete its cache. */
export function startedBy(args: readonly string[]): { readonly command: string; readonly args: readonly string[] } {
  if (/[\\/]_npx[\\/]/.test(MAIN)) return { command: "npx", args: ["-y", "toolarsenal", ...args] };
  return { command: process.execPath, args: [MAIN, ...args] };
}
