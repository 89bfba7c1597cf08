import { execFile } from "node:child_process";
import { Missing } from "./missing.ts";

/** Where a secret lies in the system's keychain. */
export interface KeychainEntry {
  readonly service: string;
  readonly account: string;
}

/** What asking a keychain needs. */
export interface KeychainParts {
  readonly platform: string;
  /** The environment of the program that is asked; it finds the session's keychain by it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
}

interface Program {
  readonly command: string;
  readonly args: readonly string[];
  /** How the secret gets there. */
  readonly store: string;
}

/** The keychain may ask the person at the machine. */
const TIMEOUT_MS = 60_000;

/** Asks the system's keychain: `security` on macOS, `secret-tool` on Linux. Its arguments name the secret and never hold it. Rejects with `Missing`. */
export async function readKeychain(entry: KeychainEntry, parts: KeychainParts): Promise<string> {
  const program = programFor(entry, parts.platform);
  if (program === undefined)
    throw new Missing(`there is no keychain that can be asked on ${parts.platform}`, "Use env: or file: instead.");
  const found = await run(program, parts);
  if (found === "") throw new Missing("the keychain has no such entry", `Store it: ${program.store}`);
  return found;
}

function programFor({ service, account }: KeychainEntry, platform: string): Program | undefined {
  switch (platform) {
    case "darwin":
      return {
        command: "security",
        args: ["find-generic-password", "-s", service, "-a", account, "-w"],
        store: "security add-generic-password -s SERVICE -a ACCOUNT -w",
      };
    case "linux":
      return {
        command: "secret-tool",
        args: ["lookup", "service", service, "account", account],
        store: "secret-tool store --label NAME service SERVICE account ACCOUNT",
      };
    default:
      return undefined;
  }
}

/** What the program writes; nothing where it says that there is no such entry. */
function run({ command, args, store }: Program, { environment, signal }: KeychainParts): Promise<string> {
  const options = { env: { ...environment }, timeout: TIMEOUT_MS, ...(signal === undefined ? {} : { signal }) };
  return new Promise((resolve, reject) => {
    execFile(command, args, options, (error, output) => {
      if (error === null) resolve(output.replace(/\r?\n$/, ""));
      else if (signal?.aborted) reject(signal.reason);
      else if (error.code === "ENOENT") reject(new Missing(`${command} is not installed`, `Install ${command}.`));
      // Both programs end so where there is nothing; what they write then is not shown, whatever it is.
      else if (typeof error.code === "number") resolve("");
      else reject(new Missing(`${command} gave no answer`, `Unlock the keychain, or try: ${store}`));
    });
  });
}
