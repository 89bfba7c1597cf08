import { mkdir, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { Command, Terminal } from "../command.ts";
import { scaffold } from "../init/scaffold.ts";
import { PROGRAM } from "../program.ts";
import { readExisting, writeWithBackup } from "../setup/edit-files.ts";
import { styles, table } from "../terminal/style.ts";

export const command: Command = {
  options: {
    "dry-run": { description: "Show what would be written, and write nothing" },
    force: { description: "Replace existing files; a copy of each is kept" },
  },
  examples: ["init", "init --dry-run", "init --config deploy/arsenal.yaml"],
  async run(input, terminal) {
    const dryRun = input.flags.has("dry-run");
    const config = resolve(terminal.folder, input.config ?? "arsenal.yaml");
    const files: ScaffoldedFile[] = [];
    for (const { path, purpose, text } of scaffold(basename(config))) {
      const file = join(dirname(config), path);
      const existing = await readExisting(file);
      const action =
        existing === undefined ? "created" : existing === text || !input.flags.has("force") ? "kept" : "replaced";
      if (!dryRun && action === "created") {
        await mkdir(dirname(file), { recursive: true, ...(path.includes("/") ? { mode: 0o700 } : {}) });
        await writeFile(file, text, { flag: "wx" });
      }
      const backup = !dryRun && action === "replaced" ? await writeWithBackup(file, text, new Date()) : undefined;
      files.push({ file: path, action, purpose, ...(backup === undefined ? {} : { backup: basename(backup) }) });
    }
    if (input.json) terminal.out.write(`${JSON.stringify({ dryRun, folder: dirname(config), files }, undefined, 2)}\n`);
    else show(files, { dryRun, config: input.config }, terminal);
  },
};

interface ScaffoldedFile {
  /** The path relative to the folder of the configuration. */
  readonly file: string;
  readonly action: "created" | "kept" | "replaced";
  readonly purpose: string;
  readonly backup?: string;
}

function show(
  files: readonly ScaffoldedFile[],
  { dryRun, config }: { readonly dryRun: boolean; readonly config: string | undefined },
  { out, environment }: Terminal,
): void {
  const paint = styles(out, environment);
  const paints = { created: paint.green, kept: paint.dim, replaced: paint.yellow };
  const rows = files.map(({ file, action, purpose, backup }) => [
    paints[action](action),
    file,
    backup === undefined ? purpose : `${purpose}; the old one is ${backup}`,
  ]);
  out.write(`${dryRun ? "Would write, without --dry-run:\n" : ""}${table(rows)}\n`);
  if (files.some(({ action }) => action === "kept"))
    out.write("\nFiles that were there are kept as they are. --force replaces them and keeps a copy.\n");
  if (dryRun) return;
  const option = config === undefined ? "" : ` --config ${config}`;
  const next = [
    [`  ${PROGRAM} search "give the customer their money back"${option}`, "find the tool that fits"],
    [`  ${PROGRAM} call crm.find_customer --args '{"name":"dana"}'${option}`, "run one, under the policy"],
    [`  ${PROGRAM} setup${option}`, "add the MCP servers you use already"],
    [`  ${PROGRAM} serve${option}`, "serve all of it as one MCP server"],
  ];
  out.write(`\n${paint.bold("Next")}\n${table(next)}\n`);
}
