import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The folder of the package. */
export const ROOT: string = fileURLToPath(new URL("../../", import.meta.url));

/** The text of a file of the project. */
export function read(path: string): string {
  return readFileSync(ROOT + path, "utf8");
}

/** Whether the project has the file or folder. */
export function has(path: string): boolean {
  return existsSync(ROOT + path);
}

/** Files of the project that match, in order, as paths from its root with `/`. */
export function files(pattern: string | readonly string[]): readonly string[] {
  return globSync(pattern, { cwd: ROOT, withFileTypes: true, exclude: ["**/node_modules"] })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`.replaceAll("\\", "/").slice(ROOT.length))
    .sort();
}

/** Every file that is or could be committed: what git does not ignore, or all but the usual folders where there is no git. */
export function committable(): readonly string[] {
  try {
    const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
      cwd: ROOT,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return listed.split("\0").filter((path) => path !== "" && has(path));
  } catch {
    return files("**").filter((path) => !/^(?:node_modules|dist|coverage|\.git)\//.test(path));
  }
}

/** The text of a program with the package's name where the repository imports the source: `toolarsenal`, `toolarsenal/dialects`. */
export function asUserWrites(code: string): string {
  return code
    .replaceAll(/"(?:\.\.\/)+src\/index\.ts"/g, '"toolarsenal"')
    .replaceAll(/"(?:\.\.\/)+src\/(?:adapters\/)?(\w+)\/index\.ts"/g, '"toolarsenal/$1"');
}
