import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL(`./main${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url));

/** A command line of this very program as a person types it: from a clone there is no installed command. */
export const PROGRAM: string = MAIN.endsWith(".ts") ? "npm run -s cli --" : "npx toolarsenal";

/** How another program starts this one, wherever it stands. What npx keeps may be gone tomorrow, so npx itself is named for it. */
export function startedBy(args: readonly string[]): { readonly command: string; readonly args: readonly string[] } {
  if (/[\\/]_npx[\\/]/.test(MAIN)) return { command: "npx", args: ["-y", "toolarsenal", ...args] };
  return { command: process.execPath, args: [MAIN, ...args] };
}
