import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { execFile } from "node:child_process";
import { Missing } from "./reference.ts";

/** Larger files are not secrets. */
const MAX_BYTES = 64 * 1024;
/** The permission bits of the group and of other users. */
const OTHERS = 0o077;

/** Reads a file that only its owner can read, and drops the trailing newline. Rejects with `Missing`. */
export async function readSecretFile(path: string): Promise<string> {
  const whole = path.startsWith("~/") ? join(homedir(), path.slice(2)) : path;
  // Non-blocking, so that opening a pipe does not wait.
  const file = await open(whole, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch((cause: unknown) => {
    const code = String((cause as NodeJS.ErrnoException).code);
    throw new Missing(`the file cannot be opened (${code})`, "Write the secret into it, readable by this user.");
  });
  try {
    // Checks the open file, because the target of the path may change meanwhile.
    const { mode, size, isFile } = await file.stat().then((stats) => ({ ...stats, isFile: stats.isFile() }));
    if (!isFile) throw new Missing("it is not a regular file", "Name a file.");
    if (process.platform !== "win32" && (mode & OTHERS) !== 0) {
      const rights = (mode & 0o777).toString(8).padStart(4, "0");
      throw new Missing(`the file has the rights ${rights}, so that others can read it`, `Run chmod 600 on it.`);
    }
    if (size > MAX_BYTES)
      throw new Missing(`the file is longer than ${MAX_BYTES} bytes`, "Name the secret's own file.");
    const content = (await file.readFile("utf8")).replace(/\r?\n$/, "");
    if (content === "") throw new Missing("the file is empty", "Write the secret into it.");
    return content;
  } finally {
    await file.close();
  }
}

interface KeychainParts {
  readonly platform: string;
  /** The environment of the keychain program, which needs it to find the session's keychain. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
}

/** The keychain may prompt the user. */
const TIMEOUT_MS = 60_000;

/**
 * Reads a secret from the system keychain, with `security` on macOS and `secret-tool` on Linux. The program's arguments name the secret and never
 * contain it. Rejects with `Missing`.
 */
export async function readKeychain(service: string, account: string, parts: KeychainParts): Promise<string> {
  const program = programFor(service, account, parts.platform);
  if (program === undefined)
    throw new Missing(`no keychain is supported on ${parts.platform}`, "Use env: or file: instead.");
  const found = await run(program, parts);
  if (found === "") throw new Missing("the keychain has no entry", `Store it: ${program.store}`);
  return found;
}

function programFor(service: string, account: string, platform: string) {
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

/** Returns the program's output; empty if the keychain has no such entry. */
function run(
  { command, args, store }: NonNullable<ReturnType<typeof programFor>>,
  { environment, signal }: KeychainParts,
): Promise<string> {
  const options = { env: { ...environment }, timeout: TIMEOUT_MS, ...(signal === undefined ? {} : { signal }) };
  return new Promise((resolve, reject) => {
    execFile(command, args, options, (error, output) => {
      if (error === null) resolve(output.replace(/\r?\n$/, ""));
      else if (signal?.aborted) reject(signal.reason);
      else if (error.code === "ENOENT") reject(new Missing(`${command} is not installed`, `Install ${command}.`));
      // Both programs exit like this if the entry does not exist. Their output is not shown.
      else if (typeof error.code === "number") resolve("");
      else reject(new Missing(`${command} gave no answer`, `Unlock the keychain, or try: ${store}`));
    });
  });
}
