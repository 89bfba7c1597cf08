import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { scriptsSource, showProblem } from "../../src/adapters/sources/scripts/scripts.ts";
import type { ScriptsSettings } from "../../src/adapters/sources/scripts/settings.ts";
import { type Tool, ToolArsenal } from "../../src/index.ts";

/** Writes files into a folder that lasts as long as the test. */
export async function folderOf(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "arsenal-")));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return folder;
}

/** Tools of files, and how to call them. */
export interface Opened extends AsyncDisposable {
  readonly arsenal: ToolArsenal;
  readonly folder: string;
  readonly problems: readonly string[];
  readonly tools: readonly Tool[];
  call(tool: string, args?: Record<string, unknown>, signal?: AbortSignal): ReturnType<ToolArsenal["execute"]>;
}

/** An arsenal with the tools of files in a folder. */
export async function open(
  files: Readonly<Record<string, string>>,
  settings: Partial<ScriptsSettings> = {},
): Promise<Opened> {
  const folder = await folderOf(files);
  const arsenal = new ToolArsenal();
  const source = scriptsSource({ name: "t", paths: [folder], ...settings });
  await arsenal.add(source);
  return {
    arsenal,
    folder,
    problems: source.problems.map((problem) => showProblem(problem).replace(`${folder}/`, "")),
    tools: await arsenal.listTools(),
    call: (tool, args = {}, signal) =>
      arsenal.execute({ toolName: `t.${tool}`, arguments: args, ...(signal ? { signal } : {}) }),
    [Symbol.asyncDispose]: () => arsenal.close(),
  };
}
