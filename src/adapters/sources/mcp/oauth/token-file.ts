import { createHash } from "node:crypto";
import { chmod, link, readFile, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { ArsenalError } from "../../../../errors/arsenal-error.ts";
import { messageOf } from "../../../../errors/show-value.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import { parseObject } from "../../parse-object.ts";
import { withFileLock } from "../../../../system/file-lock.ts";
import { replaceFile } from "../../../../system/replace-file.ts";
import { NO_CREDENTIALS, type ServerCredentials, type TokenStore } from "./credentials.ts";

/** The content of the file: credentials by the address of the MCP server. */
interface Content {
  readonly version: 1;
  readonly servers: Readonly<Record<string, unknown>>;
}

const EMPTY: Content = { version: 1, servers: {} };

/** Returns the path of the default token file, in the user's configuration folder. */
export function defaultTokenFile(
  env: Readonly<Record<string, string | undefined>> = process.env,
  platform: string = process.platform,
): string {
  const folder = platform === "win32" ? env["APPDATA"] : env["XDG_CONFIG_HOME"];
  const fallback = platform === "win32" ? join(homedir(), "AppData", "Roaming") : join(homedir(), ".config");
  return join(folder === undefined || folder === "" ? fallback : folder, "toolarsenal", "tokens.json");
}

/** Keeps credentials in one JSON file that only this user can read. Several processes may share it. A damaged file is renamed, never overwritten. */
export function createTokenFile(
  options: { readonly path?: string | undefined; readonly warn?: ((message: string) => void) | undefined } = {},
): TokenStore {
  const path = resolve(options.path ?? defaultTokenFile());
  const lock = `${path}.lock`;
  const warn = options.warn ?? ((message: string) => process.emitWarning(message));

  async function load(): Promise<Content | "damaged"> {
    try {
      await closeToOthers();
      return parse(await readFile(path, "utf8"));
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === "ENOENT") return EMPTY;
      throw failure("read", "Make it readable for this user.", cause);
    }
  }

  /** Call this only while holding the lock. Otherwise a valid file that just replaced a damaged one could be renamed. */
  async function loadOrSetAside(): Promise<Content> {
    const content = await load();
    return content === "damaged" ? setAside() : content;
  }

  /** Restricts the permissions, because the file may have been copied here with wider ones. */
  async function closeToOthers(): Promise<void> {
    if (process.platform === "win32" || ((await stat(path)).mode & 0o077) === 0) return;
    await chmod(path, 0o600);
    warn(`${path} holds tokens, and other users could read it. Its permissions are now limited to this user.`);
  }

  async function setAside(): Promise<Content> {
    for (let number = 1; ; number++) {
      const aside = `${path}.corrupt-${number}`;
      try {
        await link(path, aside);
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code === "EEXIST") continue;
        throw failure("set aside", "Remove it, then log in again.", cause);
      }
      await rm(path, { force: true });
      warn(
        `${path} is not a valid token file. It was moved to ${aside}. Log in again to the servers that need a login.`,
      );
      return EMPTY;
    }
  }

  async function writeContent(content: Content): Promise<void> {
    await replaceFile(path, `${JSON.stringify(content, null, 2)}\n`).catch((cause: unknown) => {
      throw failure("written", "Make its folder writable for this user.", cause);
    });
  }

  function failure(what: string, fix: string, cause: unknown): ArsenalError {
    const message = `The token file ${path} cannot be ${what}: ${messageOf(cause)}`;
    return new ArsenalError("STORE_FAILED", message, { field: "tokenFile", value: path, fix, cause });
  }

  return {
    async read(serverUrl) {
      const content = await load();
      return credentialsOf(content === "damaged" ? await withFileLock(lock, loadOrSetAside) : content, serverUrl);
    },
    update(serverUrl, change) {
      return withFileLock(lock, async () => {
        const content = await loadOrSetAside();
        const changed = change(credentialsOf(content, serverUrl));
        await writeContent({ ...content, servers: { ...content.servers, [serverUrl]: changed } });
        return changed;
      });
    },
    exclusively(serverUrl, work) {
      const name = createHash("sha256").update(serverUrl).digest("hex").slice(0, 16);
      return withFileLock(`${path}.${name}.lock`, work);
    },
  };
}

function parse(text: string): Content | "damaged" {
  const content = parseObject(text);
  return content?.["version"] === 1 && isPlainObject(content["servers"]) ? (content as unknown as Content) : "damaged";
}

/** Returns the entry of one server. An invalid entry counts as empty; other entries are unaffected. */
function credentialsOf(content: Content, serverUrl: string): ServerCredentials {
  const entry = Object.hasOwn(content.servers, serverUrl) ? content.servers[serverUrl] : undefined;
  return isPlainObject(entry) &&
    isPlainObject(entry["byIssuer"]) &&
    Object.values(entry["byIssuer"]).every(isPlainObject)
    ? (entry as unknown as ServerCredentials)
    : NO_CREDENTIALS;
}
