/** Copies the files that the compiler skips to the build output. */
import { copyFileSync, mkdirSync } from "node:fs";
import { pathToFileURL } from "node:url";

const ASSETS = [
  "adapters/embedders/kernel/kernel.wasm",
  "adapters/embedders/kernel/kernel-relaxed.wasm",
  "adapters/embedders/wordpiece/vocabulary.txt",
  // Node parses the nearest package.json again for every module that it loads. The package's own, with its long list of exports, took a tenth of a start.
  "package.json",
];

/** Copies the assets below the URL of a build's folder, which ends in `/`. */
export function copyAssets(dist: URL): void {
  for (const asset of ASSETS) {
    const target = new URL(asset, dist);
    mkdirSync(new URL(".", target), { recursive: true });
    copyFileSync(new URL(`../src/${asset}`, import.meta.url), target);
  }
}

const isProgram = process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href;
if (isProgram) copyAssets(new URL("../dist/", import.meta.url));
