import { gzipSync } from "node:zlib";
import { build, type Rolldown } from "vite";
import { expect, it } from "vitest";
import { ROOT } from "./project.ts";

const LIMIT_BYTES = 250 * 1024;

it("builds a dashboard of at most 250 KB gzipped, with nothing inline", async () => {
  const built = (await build({
    configFile: `${ROOT}/dashboard/vite.config.ts`,
    logLevel: "error",
    build: { write: false },
  })) as Rolldown.RolldownOutput;
  const files = built.output.map((file) => ({
    name: file.fileName,
    text: file.type === "chunk" ? file.code : String(file.source),
  }));
  const bytes = files.reduce((sum, { text }) => sum + gzipSync(text).length, 0);
  expect(bytes).toBeGreaterThan(5_000);
  expect(bytes).toBeLessThanOrEqual(LIMIT_BYTES);
  const page = files.find(({ name }) => name === "index.html")?.text ?? "";
  expect(page).toContain("/ui/assets/");
  expect(page).not.toMatch(/<style|<script(?![^>]*\ssrc=)|\sstyle=|\son\w+=/);
});
