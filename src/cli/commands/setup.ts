import { dirname, resolve } from "node:path";
import { count } from "../../errors/show-value.ts";
import type { Command, Input, Terminal } from "../command.ts";
import { readChoice, wrongInput } from "../input.ts";
import { PROGRAM } from "../program.ts";
import { clientFiles } from "../setup/client-files.ts";
import { findClients } from "../setup/find-clients.ts";
import { gather } from "../setup/gather.ts";
import type { LeftOut } from "../setup/from/carried.ts";
import { FROM_KINDS, type FromFile, readFrom } from "../setup/from/read-from.ts";
import { planSetup } from "../setup/plan.ts";
import { undoLastRun } from "../setup/undo.ts";
import { clip, styles, table } from "../terminal/style.ts";

export const command: Command = {
  options: {
    from: {
      value: "FILE",
      description:
        "Import the servers from this file of another gateway or client, instead of searching this machine for clients",
    },
    "from-kind": {
      value: "KIND",
      description: `The format of that file, if it cannot be detected: ${FROM_KINDS.join(", ")}`,
    },
    "dry-run": { description: "Show what would be written, and write nothing" },
    force: { description: "Replace servers that were edited, and secrets that differ; a copy of each file is kept" },
    "inline-env": { description: "Write keys and tokens into arsenal.yaml instead of separate env files" },
    "write-clients": {
      description: "Replace the servers in each program's file with ToolArsenal; a copy of each file is kept",
    },
    undo: { description: "Restore the programs' files to their state before the last --write-clients" },
    share: {
      description: "With --write-clients: give every program the servers of all programs, instead of only its own",
    },
    stdio: {
      description: "With --write-clients: let every program start its own gateway, instead of sharing one address",
    },
  },
  examples: [
    "setup --dry-run",
    "setup",
    "setup --write-clients",
    "setup --undo",
    "setup --from mcp_settings.json --dry-run",
    "setup --from start.sh --from-kind mcp-proxy",
  ],
  async run(input, terminal) {
    refuseMixedOptions(input);
    if (input.flags.has("undo")) return undo(input, terminal);
    const prepared = await prepare(input, terminal);
    // The changes are displayed before anything is written.
    if (!input.json) showChanges(prepared, terminal);
    const { dryRun, plan } = prepared;
    const writes = !dryRun && plan.conflicts.length === 0;
    const outcome = { ...prepared, backups: writes ? await plan.write(new Date()) : new Map<string, string>() };
    if (input.json) terminal.out.write(`${JSON.stringify(toJson(outcome), undefined, 2)}\n`);
    else showOutcome(outcome, input, terminal);
    const isSetUp = outcome.hasServers || outcome.clients.some(({ hasOwnEntry }) => hasOwnEntry);
    return isSetUp && outcome.config !== "in the way" ? 0 : 1;
  },
};

/** The other gateway's file is only read, so options for writing clients' files do not apply. */
function refuseMixedOptions({ options, flags }: Input): void {
  if (options["from"] === undefined) {
    if (options["from-kind"] === undefined) return;
    const problem = "--from-kind is the format of the file in --from, and --from is missing.";
    throw wrongInput("--from-kind", options["from-kind"], problem, "Add --from FILE.");
  }
  const mixed = ["write-clients", "share", "stdio", "undo", "inline-env"].find((flag) => flags.has(flag));
  if (mixed === undefined) return;
  const reason =
    mixed === "inline-env"
      ? "Secrets of another program's file go into env files, never into arsenal.yaml."
      : "It reads one file and changes none but arsenal.yaml and its env files.";
  throw wrongInput(`--${mixed}`, true, `--${mixed} cannot be combined with --from. ${reason}`, `Leave out --${mixed}.`);
}

type Prepared = Awaited<ReturnType<typeof prepare>>;

type Outcome = Prepared & { readonly backups: ReadonlyMap<string, string> };

async function prepare(input: Input, terminal: Terminal) {
  const dryRun = input.flags.has("dry-run");
  const target = resolve(terminal.folder, input.config ?? "arsenal.yaml");
  const kind = readChoice(input, "from-kind", FROM_KINDS);
  const { from: path } = input.options;
  const from = path === undefined ? undefined : await readFrom(path, kind, terminal);
  const clients = from === undefined ? await findClients(terminal) : [from.found];
  const gathered = gather(clients, { inline: input.flags.has("inline-env"), folder: dirname(target) });
  const force = input.flags.has("force");
  const choices = {
    replaceClients: input.flags.has("write-clients"),
    share: input.flags.has("share"),
    // A gateway that requires a token would refuse clients without one.
    stdio: input.flags.has("stdio") || Boolean(terminal.environment["TOOLARSENAL_TOKEN"]),
  };
  const plan = await planSetup({ clients, gathered, target, force, ...choices, ...(from && { sections: from }) });
  const isBlocked = plan.conflicts.length > 0;
  const hasServers = Object.keys(gathered.servers).length > 0;
  const isWritten = plan.files.some(({ file }) => file === target);
  const written = isWritten ? "written" : "unchanged";
  return {
    from,
    clients,
    gathered,
    target,
    hasServers,
    config: !hasServers ? ("nothing to write" as const) : isBlocked ? ("in the way" as const) : written,
    envFiles: gathered.envFiles.filter(({ server }) => ![...plan.kept, ...plan.edited].includes(server)),
    plan,
    dryRun,
  };
}

function toJson({ from, clients, gathered, target, config, envFiles, plan, backups, dryRun }: Outcome): object {
  return {
    dryRun,
    ...(from !== undefined && {
      from: { kind: from.kind, file: from.found.file, denied: plan.denied, leftOut: leftOutOf(from, plan) },
    }),
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
    unedited: plan.unedited,
    files: plan.files.map((planned) => {
      const backup = backups.get(planned.file);
      return { ...planned, ...(backup === undefined ? {} : { backup }) };
    }),
  };
}

/** Lists the settings that are not written, including tools that can only be denied in a policy file. */
function leftOutOf({ leftOut }: FromFile, { undenied }: Prepared["plan"]): readonly LeftOut[] {
  return [
    ...leftOut,
    ...undenied.map((id) => ({
      field: id,
      reason: "it was switched off, and arsenal.yaml has a policy file, which security.deny cannot be combined with",
      instead: "Add a rule with effect: deny to the policy file.",
    })),
  ];
}

/** Prints the type of a file, and its settings that are not written. */
function showFrom(from: FromFile, plan: Prepared["plan"], terminal: Terminal): void {
  const { out } = terminal;
  const paint = styles(out, terminal.environment);
  out.write(`Read as a file of ${from.found.client}. --from-kind reads it as another kind.\n\n`);
  if (plan.toolsets.length > 0) out.write(`Groups and tags become toolsets: ${plan.toolsets.join(", ")}.\n`);
  if (plan.denied.length > 0) out.write(`Tools that were switched off are denied: ${plan.denied.join(", ")}.\n`);
  const leftOut = leftOutOf(from, plan);
  if (leftOut.length === 0) return;
  out.write(`${paint.bold("Not carried over")}\n`);
  for (const { field, reason, instead } of leftOut) out.write(`  ${paint.yellow(field)}: ${reason}.\n    ${instead}\n`);
  out.write("\n");
}

/** Returns a function that shortens the home folder in paths. */
function shortened(terminal: Terminal): (file: string) => string {
  const home = terminal.environment["HOME"] ?? terminal.environment["USERPROFILE"];
  return (file) => (home && file.startsWith(home) ? `~${file.slice(home.length)}` : file);
}

function showChanges({ from, clients, gathered, target, config, plan, dryRun }: Prepared, terminal: Terminal): void {
  const { out } = terminal;
  const paint = styles(out, terminal.environment);
  const short = shortened(terminal);
  if (clients.length === 0) {
    const looked = [...new Set(clientFiles(terminal).map(({ file }) => `  ${short(file)}\n`))].join("");
    out.write(`Found no MCP servers. Looked at:\n${looked}`);
    return;
  }
  if (from !== undefined) showFrom(from, plan, terminal);
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
  for (const { client, from: given, to } of gathered.renamed)
    out.write(`${client} has a different server called ${given}; it becomes ${to}.\n`);

  if (plan.kept.length > 0) {
    const are = plan.kept.length === 1 ? "it is" : "they are";
    out.write(`${plan.kept.join(", ")}: configured in arsenal.yaml in another way, and left as ${are}.\n`);
  }

  if (plan.edited.length > 0) {
    const text = `${plan.edited.join(", ")}: edited in ${short(target)}, and left as written there. --force replaces what differs.`;
    out.write(`${paint.yellow(text)}\n`);
  }

  if (config === "nothing to write") {
    const isSetUp = clients.some(({ hasOwnEntry }) => hasOwnEntry);
    const why = isSetUp ? "only ToolArsenal itself is set up" : "no file has a server that can be used";
    out.write(`\nNothing to write: ${why}.\n`);
  }
  if (config === "unchanged") out.write(`\n${short(target)} has all of them already.\n`);
  if (config === "in the way") {
    out.write(`\n${paint.red("Nothing was written.")} ${plan.conflicts.map((text) => `\n  ${text}.`).join("")}\n`);
    out.write("--force replaces what differs and keeps a copy of each file; --config FILE writes another file.\n");
    return;
  }
  for (const { client, file, problem } of plan.unedited)
    out.write(`${paint.yellow(`${client}, ${short(file)} is left as it is: ${problem}`)}\n`);
  for (const { file, diff, client, action } of plan.files)
    if (dryRun || action === "update")
      out.write(`\n${paint.bold(client === undefined ? short(file) : `${client}, ${short(file)}`)}\n${diff}\n`);
}

function showOutcome(outcome: Outcome, input: Input, terminal: Terminal): void {
  const { clients, target, config, envFiles, plan, backups, dryRun } = outcome;
  const { out } = terminal;
  const paint = styles(out, terminal.environment);
  const short = shortened(terminal);
  if (clients.length === 0 || config === "in the way") return;
  for (const { file, action, mode, client } of plan.files) {
    const backup = backups.get(file);
    const said = action === "create" ? "created" : "changed";
    const how = mode === undefined ? "" : `, mode ${mode}`;
    const kept = action === "create" ? "" : `, a copy is kept${backup === undefined ? "" : `: ${short(backup)}`}`;
    const name = client === undefined ? short(file) : `${client}, ${short(file)}`;
    out.write(`\n${paint.bold(name)} ${dryRun ? "would be " : ""}${said}${how}${kept}.\n`);
  }
  // A person or a command supplies these values, so no file contains them.
  const missing = envFiles.flatMap(({ server, path, missing: names }) =>
    names.map((name) => [`  ${name}`, server, short(resolve(dirname(target), path))]),
  );
  if (missing.length > 0)
    out.write(
      `\nThese values are in no file, because a person or a command supplies them. Write each into its env file:\n${table(missing)}\n`,
    );
  const option = input.config === undefined ? "" : ` --config ${input.config}`;
  if (plan.gateway !== undefined) {
    const share = `Programs that take an address share the gateway at ${plan.gateway}.`;
    out.write(`\n${share} Keep it running: ${PROGRAM} serve${option}\nWith --stdio, each starts its own.\n`);
  }
  if (config !== "written" || dryRun) return;
  // The other gateway's clients store its address, so there are no servers to replace.
  const isOffered = !input.flags.has("write-clients") && input.options["from"] === undefined;
  const more = isOffered ? `\n  ${PROGRAM} setup --write-clients${option}` : "";
  if (input.flags.has("write-clients") && plan.files.some(({ client }) => client !== undefined))
    out.write(`\nTo put the programs' files back: ${PROGRAM} setup --undo${option}\n`);
  out.write(`\nNext\n  ${PROGRAM} doctor${option}\n  ${PROGRAM} serve${option}${more}\n`);
}

async function undo(input: Input, terminal: Terminal): Promise<number> {
  const dryRun = input.flags.has("dry-run");
  const target = resolve(terminal.folder, input.config ?? "arsenal.yaml");
  const files = await undoLastRun(target, { dryRun });
  if (input.json) terminal.out.write(`${JSON.stringify({ dryRun, files }, undefined, 2)}\n`);
  else {
    const paint = styles(terminal.out, terminal.environment);
    const short = shortened(terminal);
    if (files.length === 0)
      terminal.out.write(`Nothing to undo: no run of setup --write-clients is recorded beside ${short(target)}.\n`);
    for (const { client, file, backup, outcome, problem } of files)
      terminal.out.write(
        outcome === "restored"
          ? `${paint.bold(`${client}, ${short(file)}`)} ${dryRun ? "would be " : ""}restored from ${short(backup)}.\n`
          : `${paint.red(`${client}, ${short(file)} is left as it is`)}: ${problem}.\n`,
      );
  }
  return files.length > 0 && files.every(({ outcome }) => outcome === "restored") ? 0 : 1;
}
