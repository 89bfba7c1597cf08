/** Builds toolarsenal.mcpb for Claude Desktop: the built package with its dependencies. Needs dist, and the npm registry. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { bundleManifest, type PackageFields } from "./manifest.ts";
import { writeZip, type ZipInput } from "./write-zip.ts";

const target = process.argv[2] ?? "toolarsenal.mcpb";
const folder = mkdtempSync(join(tmpdir(), "toolarsenal-bundle-"));
try {
  const own = JSON.parse(readFileSync("package.json", "utf8")) as PackageFields;
  const npm = (args: readonly string[], cwd: string): string =>
    execFileSync("npm", [...args], { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  const packed = JSON.parse(npm(["pack", "--ignore-scripts", "--json", "--pack-destination", folder], ".")) as [
    { filename: string },
  ];
  writeFileSync(join(folder, "package.json"), '{"private":true}\n');
  npm(
    [
      "install",
      join(folder, packed[0].filename),
      "--omit=dev",
      "--omit=peer",
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
    ],
    folder,
  );
  const files = readdirSync(join(folder, "node_modules"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.split(sep).includes(".bin"))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const inputs: readonly ZipInput[] = [
    { name: "manifest.json", content: `${JSON.stringify(bundleManifest(own), undefined, 2)}\n` },
    ...files.map((file) => ({ name: relative(folder, file).split(sep).join("/"), content: readFileSync(file) })),
  ];
  const bytes = writeZip(inputs);
  writeFileSync(target, bytes);
  console.log(`${target}: ${inputs.length} files, ${(bytes.length / 1024 / 1024).toFixed(1)} MiB`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
