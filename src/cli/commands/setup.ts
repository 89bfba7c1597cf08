import { dirname, resolve } from "node:path";
import { count } from "../../errors/show-value.ts";
import type { Command, Input, Terminal } from "../command.ts";
import { PROGRAM } from "../program.ts";
import { clientFiles, findClients } from "../setup/find-clients.ts";
import { gather } from "../setup/gather.ts";
import { planSetup } from "../setup/plan.ts";
import { clip, styles, table } from "../terminal/style.ts";

export const command: Command = {
  options: {
    "dry-run": { description: "Show what would be written, and write nothing" },
    force: { description: "Replace servers that were edited, and secrets that differ; a copy of each file is kept" },
    "inline-env": { description: "Write keys and tokens into arsenal.yaml instead of separate env files" },
    "write-clients": { description: "Put ToolArsenal in place of each program's servers; a copy of each file is kept" },
    share: { description: "With --write-clients: give every program the servers of all, instead of its own" },
    stdio: {
      description: "With --write-clients: let every program start its own gateway, instead of sharing one address",
    },
  },
  examples: ["setup --dry-run", "setup", "setup --write-clients"],
  async run(input, terminal) {
    const outcome = await setUp(input, terminal);
    if (input.json) terminal.out.write(`${JSON.stringify(toJson(outcome), undefined, 2)}\n`);
    else show(outcome, input, terminal);
    const isSetUp = outcome.hasServers || outcome.clients.some(({ hasOwnEntry }) => hasOwnEntry);
    return isSetUp && outcome.config !== "in the way" ? 0 : 1;
  },
};

type Outcome = Awaited<ReturnType<typeof setUp>>;

async function setUp(input: Input, terminal: Terminal) {
  const dryRun = input.flags.has("dry-run");
  const target = resolve(terminal.folder, input.config ?? "arsenal.yaml");
  const clients = await findClients(terminal);
  const gathered = gather(clients, { inline: input.flags.has("inline-env"), folder: dirname(target) });
  const force = input.flags.has("force");
  const choices = {
    replaceClients: input.flags.has("write-clients"),
    share: input.flags.has("share"),
    // A gateway that wants a token would refuse clients that have none.
    stdio: input.flags.has("stdio") || Boolean(terminal.environment["TOOLARSENAL_TOKEN"]),
  };
  const plan = await planSetup({ clients, gathered, target, force, ...choices });
  const isBlocked = plan.conflicts.length > 0;
  const hasServers = Object.keys(gathered.servers).length > 0;
  const isWritten = plan.files.some(({ file }) => file === target);
  const written = isWritten ? "written" : "unchanged";
  return {
    clients,
    gathered,
    target,
    hasServers,
    config: !hasServers ? ("nothing to write" as const) : isBlocked ? ("in the way" as const) : written,
    envFiles: gathered.envFiles.filter(({ server }) => ![...plan.kept, ...plan.edited].includes(server)),
    plan,
    backups: dryRun || isBlocked ? new Map<string, string>() : await plan.write(new Date()),
    dryRun,
  };
}

function toJson({ clients, gathered, target, config, envFiles, plan, backups, dryRun }: Outcome): object {
  return {
    dryRun,
    found: clients.map(({ client, file, servers, hasOwnEntry, problems }) => {
      return { client, file, servers: Object.keys(servers), hasOwnEntry, problems };
    }),
    config: { file: target, outcome: config },
    servers: Object.keys(gathered.servers),
    renamed: gathered.renamed,
    secrets: envFiles.map(({ server, path, values, missing }) => {
      return { server, file: resolve(dirname(target), path), variables: Object.keys(values), missing };
    }),
    conflicts: plan.conflicts,
    edited: plan.edited,
    toolsets: plan.toolsets,
    ...(plan.gateway !== undefined && { gateway: plan.gateway }),
    kept: plan.kept,
    files: plan.files.map((planned) => {
      const backup = backups.get(planned.file);
      return { ...planned, ...(backup === undefined ? {} : { backup }) };
    }),
  };
}

function show(outcome: Outcome, input: Input, terminal: Terminal): void {
  const { clients, gathered, target, config, envFiles, plan, backups, dryRun } = outcome;
  const { out } = terminal;
  const paint = styles(out, terminal.environment);
  const home = terminal.environment["HOME"] ?? terminal.environment["USERPROFILE"];
  const short = (file: string): string => (home && file.startsWith(home) ? `~${file.slice(home.length)}` : file);
  if (clients.length === 0) {
    const looked = [...new Set(clientFiles(terminal).map(({ file }) => `  ${short(file)}\n`))].join("");
    out.write(`Found no MCP servers. Looked at:\n${looked}`);
    return;
  }
  const rows = clients.map(({ client, file, servers, hasOwnEntry, problems }) => [
    client,
    short(file),
    [...Object.keys(servers), ...(hasOwnEntry ? ["toolarsenal"] : [])].map((name) => clip(name, 40)).join(", ") ||
      "none",
    problems.length === 0 ? "" : count(problems.length, "problem"),
  ]);
  out.write(`${table([["client", "file", "servers", "problems"].map(paint.bold), ...rows])}\n`);
  for (const { file, problems } of clients)
    for (const problem of problems) out.write(`${paint.yellow(`${short(file)}: ${clip(problem, 200)}`)}\n`);
  for (const { client, from, to } of gathered.renamed)
    out.write(`${client} has a different server called ${from}; it becomes ${to}.\n`);

  if (plan.kept.length > 0) {
    const are = plan.kept.length === 1 ? "it is" : "they are";
    out.write(`${plan.kept.join(", ")}: configured in arsenal.yaml in another way, and left as ${are}.\n`);
  }

  if (plan.edited.length > 0) {
    const text = `${plan.edited.join(", ")}: edited in ${short(target)}, and left as written there. --force replaces what differs.`;
    out.write(`${paint.yellow(text)}\n`);
  }

  if (config === "nothing to write") out.write("\nNothing to write: only ToolArsenal itself is set up.\n");
  if (config === "unchanged") out.write(`\n${short(target)} has all of them already.\n`);
  if (config === "in the way") {
    out.write(`\n${paint.red("Nothing was written.")} ${plan.conflicts.map((text) => `\n  ${text}.`).join("")}\n`);
    out.write("--force replaces what differs and keeps a copy of each file; --config FILE writes another file.\n");
    return;
  }
  for (const { file, action, mode, diff, client } of plan.files) {
    const backup = backups.get(file);
    const said = action === "create" ? "created" : "changed";
    const how = mode === undefined ? "" : `, mode ${mode}`;
    const kept = action === "create" ? "" : `, a copy is kept${backup === undefined ? "" : `: ${short(backup)}`}`;
    const name = client === undefined ? short(file) : `${client}, ${short(file)}`;
    out.write(`\n${paint.bold(name)} ${dryRun ? "would be " : ""}${said}${how}${kept}.\n${dryRun ? `${diff}\n` : ""}`);
  }
  // VS Code prompts for these values, so no file has them.
  const missing = envFiles.flatMap(({ server, path, missing: names }) =>
    names.map((name) => [`  ${name}`, server, short(resolve(dirname(target), path))]),
  );
  if (missing.length > 0)
    out.write(
      `\nVS Code asks for these values, so setup cannot copy them. Write each into its file:\n${table(missing)}\n`,
    );
  const option = input.config === undefined ? "" : ` --config ${input.config}`;
  if (plan.gateway !== undefined) {
    const share = `Programs that take an address share the gateway at ${plan.gateway}.`;
    out.write(`\n${share} Keep it running: ${PROGRAM} serve${option}\nWith --stdio, each starts its own.\n`);
  }
  if (config !== "written" || dryRun) return;
  const more = input.flags.has("write-clients") ? "" : `\n  ${PROGRAM} setup --write-clients${option}`;
  out.write(`\nNext\n  ${PROGRAM} doctor${option}\n  ${PROGRAM} serve${option}${more}\n`);
}
