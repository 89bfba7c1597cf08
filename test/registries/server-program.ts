/** A tool that the program offers. */
export interface ProgramTool {
  readonly name: string;
  readonly description: string;
}

/** The text of the smallest MCP server over stdio, in JavaScript without imports. It answers a call with its arguments and variables. */
export function serverProgram(tools: readonly ProgramTool[], options: { readonly marks?: string } = {}): string {
  const listed = tools.map((tool) => ({ ...tool, inputSchema: { type: "object" } }));
  const mark =
    options.marks === undefined ? "" : `require("node:fs").writeFileSync(${JSON.stringify(options.marks)}, "ran");`;
  return `#!/usr/bin/env node
${mark}
const results = {
  initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "sample", version: "9.9.9" } },
  "tools/list": { tools: ${JSON.stringify(listed)} },
};
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const text = JSON.stringify({ arguments: process.argv.slice(2), token: process.env.WEATHER_TOKEN, units: process.env.UNITS, cwd: process.cwd() });
  const result = method === "tools/call" ? { content: [{ type: "text", text }] } : results[method];
  const answer = result === undefined ? { error: { code: -32601, message: "Method not found" } } : { result };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...answer }) + "\\n");
});
`;
}

/** The files of an npm package with that server. */
export function npmFiles(
  name: string,
  version: string,
  program: string,
  more: object = {},
): Readonly<Record<string, string>> {
  const bin = { [name.replace(/^@[^/]+\//, "")]: "server.cjs" };
  return { "package.json": JSON.stringify({ name, version, bin, ...more }), "server.cjs": program };
}
