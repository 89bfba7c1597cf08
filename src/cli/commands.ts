import type { Command, NamedCommand } from "./command.ts";

/** A command's one-line summary, and its module, which is loaded on demand. */
type CommandEntry = readonly [summary: string, load: () => Promise<{ readonly command: Command }>];

const ENTRIES: Readonly<Record<string, CommandEntry>> = {
  serve: ["Serve your MCP servers and tools as one MCP server", () => import("./commands/serve.ts")],
  init: ["Write a configuration, a policy and example tools to start from", () => import("./commands/init.ts")],
  setup: ["Find the MCP servers your other programs use, and write arsenal.yaml", () => import("./commands/setup.ts")],
  add: ["Find, check, pin and configure an MCP server", () => import("./commands/registry/add.ts")],
  remove: ["Remove a server from the configuration", () => import("./commands/registry/remove.ts")],
  update: [
    "Update added servers, with the changes of their tools and pins",
    () => import("./commands/registry/update.ts"),
  ],
  outdated: ["Compare added servers with their registries", () => import("./commands/registry/outdated.ts")],
  login: ["Sign in to one MCP server", () => import("./commands/guard/login.ts")],
  demo: ["Show ToolArsenal on a demo catalog, then exit", () => import("./commands/demo.ts")],
  list: ["List the registered tools", () => import("./commands/list.ts")],
  toolsets: ["List the toolsets, or the tools of one", () => import("./commands/toolsets.ts")],
  search: ["Find the tools that fit a request", () => import("./commands/search.ts")],
  call: ["Run one tool under policy", () => import("./commands/call.ts")],
  run: ["Run a TypeScript program that calls tools under policy", () => import("./commands/runs/run.ts")],
  programs: ["Save programs that work as tools, accept or remove them", () => import("./commands/runs/programs.ts")],
  workflows: ["List, show or run workflows", () => import("./commands/runs/workflows.ts")],
  chat: ["Talk to a model that uses your tools", () => import("./commands/chat/chat.ts")],
  import: [
    "Print the tools of an OpenAPI document, an MCP server or an agent as JSON lines",
    () => import("./commands/import.ts"),
  ],
  export: ["Print tool definitions in the format of a model's API", () => import("./commands/export.ts")],
  convert: ["Convert tool definitions from one dialect to another", () => import("./commands/convert.ts")],
  scan: ["Look for hidden text and attacks in tools and server instructions", () => import("./commands/guard/scan.ts")],
  eval: ["Measure retrieval on your own tools and queries", () => import("./commands/measure/eval.ts")],
  tune: ["Fit the ranking to your own tools and queries, if that helps", () => import("./commands/measure/tune.ts")],
  benchmark: ["Measure speed, and exit 1 if retrieval is too slow", () => import("./commands/measure/benchmark.ts")],
  approvals: ["List, approve or deny calls that wait for approval", () => import("./commands/guard/approvals.ts")],
  pins: ["List the tools of your servers, and accept new or changed ones", () => import("./commands/guard/pins.ts")],
  keys: ["Create, list or revoke API keys for callers", () => import("./commands/guard/keys.ts")],
  tenants: ["Create, change or suspend tenants, and see their usage", () => import("./commands/teams/tenants.ts")],
  policy: ["Test a policy file, or explain one decision", () => import("./commands/guard/policy.ts")],
  audit: ["Verify the audit log, or show its last records", () => import("./commands/guard/audit.ts")],
  why: ["Show how a past request was ranked, and which tools were called", () => import("./commands/observe/why.ts")],
  costs: ["Show the cost of calls by tool, tenant or day", () => import("./commands/observe/costs.ts")],
  top: ["Watch a gateway: calls, errors, servers and problems", () => import("./commands/observe/top.ts")],
  doctor: ["Check the configuration and print a fix for each problem", () => import("./commands/doctor.ts")],
  completion: ["Print a completion script for your shell", () => import("./commands/completion.ts")],
};

/** Every command by name, in the order of the help. */
export const COMMANDS: Readonly<Record<string, { readonly summary: string; load(): Promise<NamedCommand> }>> =
  Object.fromEntries(
    Object.entries(ENTRIES).map(([name, [summary, load]]) => {
      return [name, { summary, load: async () => ({ name, summary, ...(await load()).command }) }];
    }),
  );
