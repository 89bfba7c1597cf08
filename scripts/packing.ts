/** Scripts of `npm pack` and `npm publish`: `check`, `write NPM_PID` and `restore`, in the folder of the package. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const README = "README.md";
/** Holds the README while the one for the package is in its place. npm does not pack it: its name begins with a dot. */
const ORIGINAL = ".README.original.md";
const POLL_MS = 100;

interface Manifest {
  readonly repository?: string | { readonly url?: string; readonly directory?: string };
  readonly homepage?: string;
  readonly bugs?: unknown;
  readonly version?: string;
  readonly mcpName?: string;
}

/** Where a repository shows its files: pages for people, and the bytes of an image. */
interface FileAddresses {
  readonly page: string;
  readonly raw: string;
}

/** Addresses by the short name that npm accepts for a host: `gitlab:group/project`. */
const HOSTS: Readonly<Record<string, string>> = {
  github: "https://github.com",
  gitlab: "https://gitlab.com",
  bitbucket: "https://bitbucket.org",
};

function manifest(): Manifest {
  return JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
}

/** Throws if the fields are missing that only the person who publishes can fill in. */
function check(): void {
  const own = manifest();
  const missing = (["repository", "homepage", "bugs"] as const).filter((field) => own[field] === undefined);
  if (missing.length === 0) return checkName(own, fileAddresses(own)?.page ?? "");
  throw new Error(
    `package.json has no ${missing.join(", no ")}. npm shows them on the package's page, and README's links lead into the repository. ` +
      "Set them, for example:\n  npm pkg set repository.type=git repository.url=git+https://github.com/OWNER/NAME.git " +
      "homepage=https://github.com/OWNER/NAME#readme bugs.url=https://github.com/OWNER/NAME/issues",
  );
}

/** Throws if the MCP registry would refuse the package: its name there belongs to the owner of the repository, and server.json repeats name and version. */
function checkName({ mcpName, version }: Manifest, page: string): void {
  if (mcpName === undefined) return;
  const [, owner] = /^https:\/\/github\.com\/([^/]+)\//.exec(page) ?? [];
  const wanted = owner === undefined ? mcpName : `io.github.${owner}/${mcpName.split("/")[1] ?? ""}`;
  if (mcpName !== wanted)
    throw new Error(
      `mcpName is ${mcpName}, and the repository belongs to ${owner}. Run: npm pkg set mcpName=${wanted}, and change the name in server.json.`,
    );
  if (!existsSync("server.json")) return;
  const server = JSON.parse(readFileSync("server.json", "utf8")) as { readonly name: string; readonly version: string };
  if (server.name !== mcpName || server.version !== version)
    throw new Error(
      `server.json is for ${server.name} ${server.version}, and the package is ${mcpName} ${version}. Change server.json.`,
    );
}

/** Puts a README with absolute links in place of the repository's own. Without `repository` there is nothing to link to, and it stays. */
function write(npm: number): void {
  restore();
  const addresses = fileAddresses(manifest());
  if (addresses === undefined) return;
  const text = readFileSync(README, "utf8");
  writeFileSync(ORIGINAL, text);
  writeFileSync(README, withAbsoluteLinks(text, addresses));
  // npm runs `postpack` only if packing succeeds, so a process that outlives npm restores the file if it fails.
  if (Number.isInteger(npm))
    spawn(process.execPath, [fileURLToPath(import.meta.url), "restore-after", String(npm)], {
      detached: true,
      stdio: "ignore",
    }).unref();
}

/** Puts the repository's README back if `write` replaced it. */
function restore(): void {
  if (existsSync(ORIGINAL)) renameSync(ORIGINAL, README);
}

/** Restores the README once a process has ended. */
async function restoreAfter(pid: number): Promise<void> {
  while (existsSync(ORIGINAL) && isRunning(pid)) await delay(POLL_MS);
  restore();
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Reads `repository` as npm does: a URL of git or of a page, `github:owner/name`, or `owner/name`. Undefined if it is not set. */
function fileAddresses({ repository }: Manifest): FileAddresses | undefined {
  if (repository === undefined) return undefined;
  const { url: given = "", directory = "" } = typeof repository === "string" ? { url: repository } : repository;
  const url = given
    .replace(
      /^(?:(github|gitlab|bitbucket):)?(?=[\w.-]+\/[\w./-]+$)/,
      (_, host = "github") => `${HOSTS[host as string]}/`,
    )
    .replace(/^git\+/, "")
    .replace(/^(?:ssh:\/\/)?git@([^:/]+)[:/]/, "https://$1/")
    .replace(/^git:/, "https:")
    .replace(/(?:\.git)?\/?$/, "");
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new Error(
      `repository ${JSON.stringify(given)} in package.json is not an address. Write it as git+https://HOST/OWNER/NAME.git.`,
    );
  const { hostname } = new URL(url);
  const files = hostname.includes("gitlab") ? `${url}/-` : url;
  const page = hostname === "bitbucket.org" ? "src" : "blob";
  const folder = directory === "" ? "" : `${directory}/`;
  return { page: `${files}/${page}/HEAD/${folder}`, raw: `${files}/raw/HEAD/${folder}` };
}

/** Makes the relative links and images of a page absolute. Links within the page and everything in code stay as they are. */
function withAbsoluteLinks(text: string, { page, raw }: FileAddresses): string {
  const absolute = (link: string, isImage: boolean): string =>
    /^(?:[a-z][a-z+.-]*:|#|\/)/i.test(link) ? link : new URL(link, isImage ? raw : page).href;
  return text
    .split(/(```[\s\S]*?```|`[^`\n]*`)/)
    .map((piece, index) => {
      if (index % 2 === 1) return piece;
      return piece
        .replaceAll(
          /(!\[[^\]]*)?\]\(([^)\s]+)/g,
          (_, image: string | undefined, link: string) => `${image ?? ""}](${absolute(link, image !== undefined)}`,
        )
        .replaceAll(
          /\b(src|href)="([^"]+)"/g,
          (_, name: string, link: string) => `${name}="${absolute(link, name === "src")}"`,
        );
    })
    .join("");
}

const [command, pid] = process.argv.slice(2);
try {
  if (command === "check") check();
  else if (command === "write") write(Number(pid));
  else if (command === "restore") restore();
  else if (command === "restore-after") await restoreAfter(Number(pid));
  else throw new Error(`There is no command ${JSON.stringify(command)}: check, write, restore.`);
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
