import type { Command } from "./command.ts";

/** Every command, by name, in the order the help shows them. Each is loaded when it is needed. */
export const COMMANDS: Readonly<Record<string, { readonly summary: string; load(): Promise<Command> }>> = {
  serve: {
    summary: "Serve your MCP servers and tools as one MCP server",
    load: async () => (await import("./commands/serve.ts")).serve,
  },
  init: {
    summary: "Write a configuration, a policy and example tools to start from",
    load: async () => (await import("./commands/init.ts")).init,
  },
  setup: {
    summary: "Find the MCP servers your other programs use, and write arsenal.yaml",
    load: async () => (await import("./commands/setup.ts")).setup,
  },
  login: {
    summary: "Sign in to one MCP server",
    load: async () => (await import("./commands/guard/login.ts")).login,
  },
  demo: {
    summary: "Show what it does on a demo catalog, then exit",
    load: async () => (await import("./commands/demo.ts")).demo,
  },
  list: { summary: "List the registered tools", load: async () => (await import("./commands/list.ts")).list },
  search: {
    summary: "Find the tools that fit a request",
    load: async () => (await import("./commands/search.ts")).search,
  },
  call: { summary: "Run one tool under policy", load: async () => (await import("./commands/call.ts")).call },
  import: {
    summary: "Print the tools of an OpenAPI document or an MCP server",
    load: async () => (await import("./commands/import.ts")).importTools,
  },
  export: {
    summary: "Print tool definitions in the format of a model's API",
    load: async () => (await import("./commands/export.ts")).exportTools,
  },
  convert: {
    summary: "Convert tool definitions from one dialect to another",
    load: async () => (await import("./commands/convert.ts")).convert,
  },
  scan: {
    summary: "Look for hidden text and attacks in tools and servers",
    load: async () => (await import("./commands/guard/scan.ts")).scan,
  },
  eval: {
    summary: "Measure retrieval on your own tools and queries",
    load: async () => (await import("./commands/eval.ts")).evaluate,
  },
  benchmark: {
    summary: "Measure speed, and fail if retrieval is too slow",
    load: async () => (await import("./commands/benchmark.ts")).benchmark,
  },
  approvals: {
    summary: "List, approve or deny calls that wait for approval",
    load: async () => (await import("./commands/guard/approvals.ts")).approvals,
  },
  pins: {
    summary: "List the tools of your servers, and accept new or changed ones",
    load: async () => (await import("./commands/guard/pins.ts")).pins,
  },
  keys: {
    summary: "Create, list or revoke API keys for callers",
    load: async () => (await import("./commands/guard/keys.ts")).keys,
  },
  policy: {
    summary: "Test a policy file, or explain one decision",
    load: async () => (await import("./commands/guard/policy.ts")).policy,
  },
  audit: {
    summary: "Verify the audit log, or show its last records",
    load: async () => (await import("./commands/guard/audit.ts")).audit,
  },
  doctor: {
    summary: "Check the configuration and say how to fix it",
    load: async () => (await import("./commands/doctor.ts")).doctor,
  },
  completion: {
    summary: "Print a completion script for your shell",
    load: async () => (await import("./commands/completion.ts")).completion,
  },
};
