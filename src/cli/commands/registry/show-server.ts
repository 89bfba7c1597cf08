import { count } from "../../../errors/show-value.ts";
import type { ServerOption } from "../../../registries/install/choose.ts";
import type { PreparedServer, TriedServer } from "../../../registries/prepare-server.ts";
import { namespaceOf, type RegistryEntry } from "../../../registries/read/server-json.ts";
import type { Terminal } from "../../command.ts";
import { clip, styles, table } from "../../terminal/style.ts";

/** Prints a registry's entry for a server. */
export function showEntry(entry: RegistryEntry, options: readonly ServerOption[], terminal: Terminal): void {
  const { server, status, statusMessage, registry, publishedAt } = entry;
  const { bold, yellow } = styles(terminal.err, terminal.environment);
  const rows = [
    ["publisher", namespaceOf(server)],
    ["version", `${server.version}${publishedAt === undefined ? "" : `, published ${publishedAt.slice(0, 10)}`}`],
    ["registry", registry],
    ["status", `${status}${statusMessage === undefined ? "" : `: ${clip(statusMessage, 200)}`}`],
    ["repository", server.repository?.url ?? "not given"],
    ...options.map(({ kind, label, missing }) => [kind, `${label}${missing === undefined ? "" : ` (${missing})`}`]),
  ];
  terminal.err.write(`${bold(server.name)}  ${clip(server.description ?? "", 200)}\n${table(rows)}\n`);
  if (status === "deprecated") terminal.err.write(`${yellow("This server is deprecated.")}\n`);
}

/** Prints what a server offered when it was connected, and the differences from the previous version. */
export function showTrial(prepared: PreparedServer, tried: TriedServer, terminal: Terminal): void {
  const { err, environment } = terminal;
  const { bold, red, dim } = styles(err, environment);
  const { trial } = tried;
  for (const remark of prepared.installation.remarks) err.write(`${remark}\n`);
  const { checksum, label, kind } = prepared.installation;
  err.write(`Pinned: ${kind} ${label}${checksum === undefined ? "" : ` (${checksum.slice(0, 26)}…)`}\n`);
  if (trial.needsSignIn === true) err.write("It wants you to sign in before it lists its tools.\n");
  else {
    const where = trial.confined ? " in a sandbox" : "";
    const said = trial.server === undefined ? "" : ` It says it is ${trial.server.name} ${trial.server.version}.`;
    err.write(`${bold(`Connected${where}: ${count(trial.tools.length, "tool")}.`)}${said}\n`);
    const changes = new Map(toolChanges(prepared, tried).map(({ tool, change }) => [tool, change]));
    const rows = trial.tools.slice(0, 40).map(({ name, description }) => {
      return [changes.get(name) ?? "", name, clip(description, 90)];
    });
    const isUpdate = prepared.before !== undefined;
    if (rows.length > 0) err.write(`${table(isUpdate ? rows : rows.map((row) => row.slice(1)))}\n`);
    if (trial.tools.length > 40) err.write(dim(`… and ${trial.tools.length - 40} more\n`));
    const removed = [...changes].filter(([, change]) => change === "removed").map(([tool]) => tool);
    if (removed.length > 0) err.write(`removed: ${removed.join(", ")}\n`);
  }
  for (const { subject, severity, message, excerpt } of trial.findings)
    err.write(`${red(`${severity}:`)} ${subject}: ${message} "${clip(excerpt, 120)}"\n`);
}

/** The change of a tool between two versions of a server. */
export interface ToolChange {
  readonly tool: string;
  readonly change: "new" | "changed" | "removed";
}

/** Compares the tools of an update with the pinned ones. Returns no changes for a new server, or for one that could not list its tools. */
export function toolChanges({ before }: PreparedServer, { trial, locked }: TriedServer): readonly ToolChange[] {
  if (before === undefined || trial.needsSignIn === true) return [];
  const changed = Object.entries(locked.tools).flatMap(([tool, hash]): readonly ToolChange[] => {
    const old = before.tools[tool];
    if (old === hash) return [];
    return [{ tool, change: old === undefined ? "new" : "changed" }];
  });
  const removed = Object.keys(before.tools).filter((tool) => !Object.hasOwn(locked.tools, tool));
  return [...changed, ...removed.map((tool): ToolChange => ({ tool, change: "removed" }))];
}
