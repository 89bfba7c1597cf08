/** `npm run size`: what the package weighs, by part. Fails above the limit. */
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { type Packed, packedFiles, ROOT } from "./packed-files.ts";

/** The largest archive that may be published, in bytes. Nearly all of it are the weights of the models. */
export const LIMIT = 25_000_000;

const HELP = `npm run size [-- --help]

Lists the parts of the package: files, bytes installed, and bytes that are downloaded. Run npm run build first. Exits with 1 if the archive is larger
than ${megabytes(LIMIT)}.
`;

/** The parts, in the order in which a file is looked for. */
const PARTS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["weights of the models", /^models\/weights\//],
  ["dashboard", /^dist\/ui\//],
  ["types", /\.d\.ts$/],
  ["program", /^dist\//],
  ["docs", /^docs\/|^[A-Z]+(?:\.md)?$/],
  ["examples", /^examples\//],
  ["configuration schema", /^config\.schema\.json$/],
  ["other", /^/],
];

export interface PartSize {
  readonly name: string;
  readonly files: number;
  readonly installed: number;
  readonly packed: number;
}

/** The size of each part. Packed sizes are of the part compressed alone, so they add up to a little more than the archive. */
export function sizeByPart({ files }: Packed): readonly PartSize[] {
  return PARTS.map(([name, pattern], at) => {
    const own = files.filter(({ path }) => PARTS.findIndex(([, each]) => each.test(path)) === at && pattern.test(path));
    const content = Buffer.concat(own.map(({ path }) => readFileSync(ROOT + path)));
    return { name, files: own.length, installed: content.length, packed: gzipSync(content).length };
  });
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(2)} MB`;
}

function main(): void {
  if (process.argv.includes("--help")) return console.log(HELP);
  const packed = packedFiles();
  if (!packed.files.some(({ path }) => path === "dist/index.js")) {
    console.error("There is no build to measure. Run: npm run build");
    process.exitCode = 1;
    return;
  }
  const row = (...[name, ...numbers]: readonly string[]): string =>
    `${(name ?? "").padEnd(24)}${numbers.map((each) => each.padStart(12)).join("")}`;
  console.log(row("part", "files", "installed", "packed"));
  for (const { name, files, installed, packed: size } of sizeByPart(packed))
    console.log(row(name, String(files), megabytes(installed), megabytes(size)));
  console.log(row("all", String(packed.files.length), megabytes(packed.unpackedSize), megabytes(packed.size)));
  console.log(`\nThe limit is ${megabytes(LIMIT)}.`);
  if (packed.size <= LIMIT) return;
  console.error(`The package is too large: ${megabytes(packed.size)}. The table shows which part grew.`);
  process.exitCode = 1;
}

const isProgram = process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href;
if (isProgram) main();
