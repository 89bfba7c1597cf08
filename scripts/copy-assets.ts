/** Copies the shipped embedder's kernel and vocabulary, which the compiler skips, to the build output. */
import { copyFileSync, mkdirSync } from "node:fs";

const ASSETS = ["adapters/embedders/kernel/kernel.wasm", "adapters/embedders/wordpiece/vocabulary.txt"];

for (const asset of ASSETS) {
  const target = new URL(`../dist/${asset}`, import.meta.url);
  mkdirSync(new URL(".", target), { recursive: true });
  copyFileSync(new URL(`../src/${asset}`, import.meta.url), target);
}
