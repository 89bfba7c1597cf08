import { parseEnv } from "node:util";

/** Returns the name of a server's env file, without .env: `My Server` becomes `my-server`. */
export function envFileName(server: string): string {
  const name = server.toLowerCase().replaceAll(/[^a-z0-9_-]+/g, "-");
  return name.replaceAll(/^-+|-+$/g, "") || "server";
}

/** Returns whether a value stays unchanged when it is written to an env file and read again. */
export function fitsEnvFile(name: string, value: string): boolean {
  return lineFor(name, value) !== undefined;
}

/** Returns the text of an env file with these values, and an empty line for each missing one. Other values of an existing file stay. */
export function envFileText(
  values: Readonly<Record<string, string>>,
  missing: readonly string[] = [],
  existing = "",
): string {
  const empty = Object.fromEntries(missing.map((name) => [name, ""]));
  const all = { ...empty, ...readEnv(existing), ...values };
  return Object.entries(all)
    .map(([name, value]) => `${lineFor(name, value) ?? `${name}=${value}`}\n`)
    .join("");
}

export function readEnv(text: string): Readonly<Record<string, string>> {
  return { ...parseEnv(text) } as Record<string, string>;
}

/** Returns the line for a value, in the first notation that preserves it: unquoted, or with one of three kinds of quotes. */
function lineFor(name: string, value: string): string | undefined {
  if (!/^[A-Za-z_]\w*$/.test(name) || value === "") return undefined;
  const ways = [/^[\w./:@%+=,~-]+$/.test(value) ? value : undefined, `'${value}'`, `"${value}"`, `\`${value}\``, value];
  return ways
    .filter((way) => way !== undefined)
    .map((way) => `${name}=${way}`)
    .find((line) => {
      // Parsed between two other lines, to detect an unterminated quote.
      const read = readEnv(`A_=1\n${line}\nZ_=2\n`);
      return read[name] === value && read["Z_"] === "2" && Object.keys(read).length === 3;
    });
}
