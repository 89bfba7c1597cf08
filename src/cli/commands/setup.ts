import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command, Input, Terminal } from "../command.ts";
import { PROGRAM } from "../program.ts";
import { arsenalText, hasServers } from "../setup/arsenal-file.ts";
import { editedText, ownServers, writeWithBackup } from "../setup/client-edit.ts";
import { clientFiles } from "../setup/client-files.ts";
import { findClients, type FoundClient } from "../setup/find-servers.ts";
import { gather, type Gathered } from "../setup/gather.ts";
import { lineDiff } from "../setup/line-diff.ts";
import { withoutSecrets } from "../setup/secrets.ts";
import { clip, styles, table } from "../style.ts";

/** `toolarsenal setup` */
export const setup: Command = {
  name: "setup",
  summary: "Find the MCP servers your other programs use, and write arsenal.yaml.",
  positionals: [],
  options: {
    "dry-run": { type: "boolean", description: "Show what would be written, and write nothing" },
    force: { type: "boolean", description: "Add the servers to an arsenal.yaml that is there; a copy of it is kept" },
    "inline-env": {
      type: "boolean",
      description: "Copy keys and tokens into arsenal.yaml instead of naming variables",
    },
    "write-clients": {
      type: "boolean",
      description: "Put ToolArsenal in place of each program's servers; a copy of each file is kept",
    },
  },
  examples: ["setup --dry-run", "setup", "setup --inline-env --write-clients"],
  async run(input, terminal) {
    const dryRun = input.options["dry-run"] === true;
    const clients = await findClients(terminal);
    const gathered = gather(clients, input.options["inline-env"] === true);
    const target = resolve(terminal.folder, input.config ?? "arsenal.yaml");
    const wrote = await writeArsenal(target, gathered, { dryRun, force: input.options["force"] === true });
    const refused = wrote.outcome === "in the way";
    const replaces = input.options["write-clients"] === true && !refused;
    const edits = replaces ? await writeClients(clients, target, dryRun) : [];
    const outcome: Outcome = { clients, gathered, wrote, edits, dryRun };
    if (input.json) terminal.out.write(`${JSON.stringify(toJson(outcome), undefined, 2)}\n`);
    else show(outcome, input, terminal);
    const isSetUp = Object.keys(gathered.servers).length > 0 || clients.some(({ hasOwnEntry }) => hasOwnEntry);
    return isSetUp && !refused ? 0 : 1;
  },
};

interface Written {
  readonly file: string;
  readonly outcome: "written" | "unchanged" | "nothing to write" | "in the way";
  readonly backup?: string;
  /** What changes, without secrets. */
  readonly diff: string;
}

interface Edit {
  readonly client: string;
  readonly file: string;
  readonly backup?: string;
  readonly diff: string;
}

interface Outcome {
  readonly clients: readonly FoundClient[];
  readonly gathered: Gathered;
  readonly wrote: Written;
  readonly edits: readonly Edit[];
  readonly dryRun: boolean;
}

async function writeArsenal(
  file: string,
  { servers, shown }: Gathered,
  { dryRun, force }: { readonly dryRun: boolean; readonly force: boolean },
): Promise<Written> {
  if (Object.keys(servers).length === 0) return { file, outcome: "nothing to write", diff: "" };
  const existing = await readFile(file, "utf8").catch(() => undefined);
  if (existing !== undefined && (await hasServers(existing, servers))) return { file, outcome: "unchanged", diff: "" };
  const diff = lineDiff(existing ?? "", await arsenalText(existing, shown));
  if (dryRun) return { file, outcome: "written", diff };
  if (existing !== undefined && !force) return { file, outcome: "in the way", diff };
  const text = await arsenalText(existing, servers);
  if (existing !== undefined)
    return { file, outcome: "written", diff, backup: await writeWithBackup(file, text, new Date()) };
  // Only its owner may read it: with --inline-env there are secrets in it.
  await writeFile(file, text, { mode: 0o600, flag: "wx" });
  return { file, outcome: "written", diff };
}

async function writeClients(
  clients: readonly FoundClient[],
  config: string,
  dryRun: boolean,
): Promise<readonly Edit[]> {
  const edits: Edit[] = [];
  for (const found of clients) {
    const { client, file, servers } = found;
    if (Object.keys(servers).length === 0) continue;
    const before = Object.entries(servers).map(([name, entry]) => [name, withoutSecrets(name, entry).entry]);
    const diff = lineDiff(pretty(Object.fromEntries(before)), pretty(ownServers(found, config)));
    if (dryRun) {
      edits.push({ client, file, diff });
      continue;
    }
    // A file may have servers in two places: it is read again, and copied once.
    const text = editedText(found, await readFile(file, "utf8"), config);
    const earlier = edits.find((edit) => edit.file === file)?.backup;
    if (earlier !== undefined) await writeFile(file, text);
    edits.push({ client, file, diff, backup: earlier ?? (await writeWithBackup(file, text, new Date())) });
  }
  return edits;
}

function pretty(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}

function toJson({ clients, gathered, wrote, edits, dryRun }: Outcome): object {
  return {
    dryRun,
    found: clients.map(({ client, file, servers, hasOwnEntry, problems }) => {
      return { client, file, servers: Object.keys(servers), hasOwnEntry, problems };
    }),
    config: wrote,
    servers: Object.keys(gathered.servers),
    renamed: gathered.renamed,
    variables: gathered.variables,
    clients: edits,
  };
}

function show({ clients, gathered, wrote, edits, dryRun }: Outcome, input: Input, terminal: Terminal): void {
  const { out } = terminal;
  const paint = styles(out, terminal.environment);
  const home = terminal.environment["HOME"] ?? terminal.environment["USERPROFILE"];
  const short = (file: string): string => (home && file.startsWith(home) ? `~${file.slice(home.length)}` : file);
  if (clients.length === 0) {
    const looked = [...new Set(clientFiles(terminal).map(({ file }) => `  ${short(file)}\n`))].join("");
    out.write(`No MCP client's servers were found. Looked at:\n${looked}`);
    return;
  }
  const rows = clients.map(({ client, file, servers, hasOwnEntry, problems }) => [
    client,
    short(file),
    [...Object.keys(servers), ...(hasOwnEntry ? ["toolarsenal"] : [])].map((name) => clip(name, 40)).join(", ") ||
      "none",
    problems.length === 0 ? "" : `${problems.length} ${problems.length === 1 ? "problem" : "problems"}`,
  ]);
  out.write(`${table([["client", "file", "servers", "problems"].map(paint.bold), ...rows])}\n`);
  for (const { file, problems } of clients)
    for (const problem of problems) out.write(`${paint.yellow(`${short(file)}: ${clip(problem, 200)}`)}\n`);
  for (const { client, from, to } of gathered.renamed)
    out.write(`${client} has another ${from} than the one before: it is called ${to}.\n`);

  const said = dryRun ? "would be written" : "written";
  if (wrote.outcome === "nothing to write")
    out.write("\nThere is nothing to write: only ToolArsenal itself is set up.\n");
  else if (wrote.outcome === "in the way") {
    const how = "--force adds the servers to it and keeps a copy; --config FILE writes another file";
    out.write(`\n${paint.red(`${short(wrote.file)} is there already and was left as it is`)}: ${how}.\n`);
  } else if (wrote.outcome === "unchanged") out.write(`\n${short(wrote.file)} has all of them already.\n`);
  else {
    const kept = wrote.backup === undefined ? "" : `, a copy of the old one is ${short(wrote.backup)}`;
    out.write(`\n${paint.bold(short(wrote.file))} ${said}${kept}.\n${dryRun ? `${wrote.diff}\n` : ""}`);
  }
  for (const { client, file, backup, diff } of edits) {
    const kept = backup === undefined ? "" : `, a copy of the old one is ${short(backup)}`;
    out.write(`\n${paint.bold(`${client}, ${short(file)}`)} ${said}${kept}.\n${dryRun ? `${diff}\n` : ""}`);
  }
  showVariables(gathered, input, terminal);
  if (wrote.outcome === "written" && !dryRun) showNext(input, terminal);
}

function showVariables({ variables, values }: Gathered, input: Input, terminal: Terminal): void {
  const { environment, platform = process.platform, out } = terminal;
  const isSet = (name: string): boolean => {
    const value = environment[name];
    return value !== undefined && value !== "" && value === (values.get(name) ?? value);
  };
  const unset = variables.filter(({ name }) => !isSet(name));
  if (unset.length === 0) return;
  const rows = unset.map(({ name, server, field }) => [
    platform === "win32" ? `  $env:${name} = "…"` : `  export ${name}=…`,
    `# ${field} of ${server}`,
  ]);
  out.write(`\nKeys and tokens stay out of the file. Set these, or run again with --inline-env:\n${table(rows)}\n`);
  if (input.options["write-clients"] === true)
    out.write("Programs that are not started from this shell do not see them: --inline-env is simpler for those.\n");
}

function showNext(input: Input, terminal: Terminal): void {
  const config = input.config === undefined ? "" : ` --config ${input.config}`;
  const clients = input.options["write-clients"] === true ? "" : `\n  ${PROGRAM} setup --write-clients${config}`;
  terminal.out.write(`\nNext\n  ${PROGRAM} doctor${config}\n  ${PROGRAM} serve${config}${clients}\n`);
}
