import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ArsenalError, isArsenalError } from "../../errors/arsenal-error.ts";
import { loadConfig, parseConfig } from "./load-config.ts";
import { resolveConfig } from "./resolve-config.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "arsenal-"))));
afterAll(() => rm(folder, { recursive: true }));

async function refusal(text: string, environment: Record<string, string> = {}): Promise<ArsenalError> {
  const error: unknown = await parseConfig(text, "a.yaml", environment).then(
    () => new Error("it was accepted"),
    (thrown: unknown) => thrown,
  );
  if (!isArsenalError(error)) throw error;
  expect(error.code).toBe("CONFIG_INVALID");
  return error;
}

describe("a configuration file", () => {
  it.each(["", "# nothing yet\n", "---\n", "execution:\n"])("that says nothing has the defaults: %j", async (text) => {
    expect(await parseConfig(text, "a.yaml", {})).toEqual(resolveConfig({}));
  });

  it("may be JSON", async () => {
    const { routing } = await parseConfig('{"routing": {"mmr_lambda": 0.1}}', "a.json", {});
    expect(routing.mmrLambda).toBe(0.1);
  });

  it("may reuse a part by anchor, alias and merge", async () => {
    const text = `
mcp:
  servers:
    - &base { name: a, command: npx, headers: { X-Team: tools } }
    - { <<: *base, name: b }
`;
    const { mcp } = await parseConfig(text, "a.yaml", {});
    expect(mcp.servers[1]).toEqual({ name: "b", command: "npx", headers: { "X-Team": "tools" } });
  });

  it("keeps the keys that are the user's own as they are", async () => {
    const text = "vector_store:\n  options: { camelCase: 1, snake_case: 2 }\n";
    expect((await parseConfig(text, "a.yaml", {})).vectorStore.options).toEqual({ camelCase: 1, snake_case: 2 });
  });

  it("takes its snapshot from its own folder, wherever the program was started", async () => {
    const path = join(folder, "snapshot.yaml");
    await writeFile(path, "vector_store:\n  snapshot: data/tools.json\n");
    const loaded = await loadConfig(path, {});
    expect([loaded.folder, loaded.config.vectorStore.snapshot]).toEqual([folder, join(folder, "data/tools.json")]);
  });

  it("that is not there is named, with what to do", async () => {
    const path = join(folder, "nowhere.yaml");
    await expect(loadConfig(path, {})).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: `The configuration file ${path} cannot be read. Check the path, or leave --config out.`,
      details: { field: "config", value: path },
    });
  });
});

describe("a mistake in a configuration file", () => {
  it.each([
    [
      "execution:\n  max_retrys: 2\n",
      'a.yaml:2:3 execution.max_retrys: unknown key "max_retrys". Did you mean "max_retries"?',
    ],
    [
      "security:\n  deny: []\n  zzzzzzzzzz: 1\n",
      'a.yaml:3:3 security.zzzzzzzzzz: unknown key "zzzzzzzzzz". Known keys here: policy, policy_file, seal_key, require_confirmation, human_in_the_loop, allow, deny, allowed_domains, max_requests_per_minute, rates, pins, scan, certificate_pins, approval_webhook, confirmation_timeout_s, self_approval.',
    ],
    [
      "execution:\n  default_timeout_ms: soon\n",
      'a.yaml:2:3 execution.default_timeout_ms: must be a whole number from 100 to 300000, not "soon". Set execution.default_timeout_ms to a whole number from 100 to 300000.',
    ],
    [
      "routing:\n  weights:\n    semantic: 1.5\n",
      "a.yaml:3:5 routing.weights.semantic: must be a number from 0 to 1, not 1.5. Set routing.weights.semantic to a number from 0 to 1.",
    ],
    [
      "routing:\n  mmr_lambda: .nan\n",
      "a.yaml:2:3 routing.mmr_lambda: must be a number from 0 to 1, not NaN. Set routing.mmr_lambda to a number from 0 to 1.",
    ],
    [
      "telemetry:\n  type: consle\n",
      'a.yaml:2:3 telemetry.type: must be one of console, datadog, opentelemetry, prometheus, not "consle". Did you mean "console"?',
    ],
    [
      "security:\n  deny: drop_table\n",
      'a.yaml:2:3 security.deny: must be a list of strings, not "drop_table". Set security.deny to a list of strings.',
    ],
    [
      "mcp:\n  servers:\n    - command: npx\n",
      "a.yaml:3:7 mcp.servers.0.name: is missing; it must be a non-empty string. Set mcp.servers.0.name to a non-empty string.",
    ],
    ["- 1\n", "a.yaml:1:1 config: must be an object, not a list. Start with a key such as `execution:`."],
    ["auto_sync: true\nauto_sync: false\n", "a.yaml:2:1 auto_sync: the key is given twice. Remove one of the two."],
    [
      "execution:\n  max_retries: [1\n",
      "a.yaml:3:1 yaml: Flow sequence in block collection must be sufficiently indented and end with a ]. Fix the YAML at that line.",
    ],
  ])("is told with file, line, column, key, value and fix: %j", async (text, message) => {
    expect((await refusal(text)).message).toBe(message);
  });

  it("does not hide the others", async () => {
    const error = await refusal("execution:\n  max_retrys: 2\n  on_failure: explode\nauto_sync: maybe\n");
    expect(error.message).toContain("(and 2 more)");
    expect(error.details.issues).toEqual([
      {
        field: "execution.max_retrys",
        message: 'unknown key "max_retrys" (a.yaml:2:3)',
        value: "max_retrys",
        fix: 'Did you mean "max_retries"?',
      },
      {
        field: "execution.on_failure",
        message: 'must be one of return, throw, not "explode" (a.yaml:3:3)',
        value: "explode",
        fix: "Set execution.on_failure to one of return, throw.",
      },
      {
        field: "auto_sync",
        message: 'must be true or false, not "maybe" (a.yaml:4:1)',
        value: "maybe",
        fix: "Set auto_sync to true or false.",
      },
    ]);
  });

  it("is one problem, however many rules one value breaks", async () => {
    const error = await refusal("mcp:\n  servers:\n    - { name: a, command: 5 }\n");
    expect(error.details.issues).toHaveLength(1);
  });

  it.each([
    ["key of a store", "vector_store:\n  api_key: [hunter2]\n"],
    ["key in a number", "embedder:\n  api_key: 7777777\n"],
    ["header", "mcp:\n  servers:\n    - { name: a, headers: { X-Auth: [hunter2] } }\n"],
    ["variable of a server", "mcp:\n  servers:\n    - { name: a, env: { PASS: { x: hunter2 } } }\n"],
    ["option", "vector_store:\n  options: hunter2\n"],
    ["key in a misplaced section", "execution:\n  max_retries: { api_key: hunter2 }\n"],
    ["key in a list for a section", "embedder:\n  - api_key: hunter2\n"],
    ["key under a misspelt name", "embedder:\n  api_kye: hunter2\n"],
    ["line that is no YAML", "embedder:\n  api_key: hunter2\n bad\n"],
    ["variable in a wrong place", "vector_store:\n  dimension: ${SECRET}\n"],
    ["variable through an alias", "vector_store:\n  url: &s ${SECRET}\n  dimension: *s\n"],
    ["variable as a choice", "vector_store:\n  type: ${SECRET}\n"],
  ])("never shows a secret: a %s", async (_what, text) => {
    const error = await refusal(text, { SECRET: "hunter2" });
    const everything = `${error.message} ${JSON.stringify(error.details)}`;
    expect(everything).not.toMatch(/hunter2|7777777/);
  });

  it("names the variable in place of its value", async () => {
    expect((await refusal("vector_store:\n  dimension: ${SIZE}\n", { SIZE: "large" })).message).toBe(
      "a.yaml:2:3 vector_store.dimension: must be a whole number from 1 to 65536, not the value of ${SIZE}. Set vector_store.dimension to a whole number from 1 to 65536.",
    );
  });

  it("may be an attack: a bomb of aliases, or nesting without end, is refused at once", async () => {
    const levels = Array.from({ length: 12 }, (_, level) =>
      level === 0
        ? "l0: &l0 [x, x]"
        : `l${level}: &l${level} [${Array(9)
            .fill(`*l${level - 1}`)
            .join(", ")}]`,
    );
    const started = process.threadCpuUsage();
    expect((await refusal(levels.join("\n"))).message).toContain("Excessive alias count");
    expect((await refusal("[".repeat(50_000))).code).toBe("CONFIG_INVALID");
    expect((await refusal(`auto_sync: *nowhere\n`)).message).toContain("nowhere");
    expect(process.threadCpuUsage(started).user / 1_000).toBeLessThan(5_000);
  });

  it("cannot reach the prototype", async () => {
    expect((await refusal("__proto__:\n  auto_sync: false\n")).details.field).toBe("__proto__");
    expect((await refusal("execution:\n  constructor: 1\n")).details.field).toBe("execution.constructor");
  });
});

describe("references to the environment", () => {
  const read = async (text: string, environment: Record<string, string>): Promise<unknown> =>
    (await parseConfig(`vector_store:\n  url: ${text}\n`, "a.yaml", environment)).vectorStore.url;

  it("are replaced wherever they stand in a text", async () => {
    expect(await read("http://${HOST}:${PORT}/", { HOST: "store", PORT: "80" })).toBe("http://store:80/");
  });

  it("take their default where the variable is missing or empty", async () => {
    expect(await read("${URL:-http://here}", {})).toBe("http://here");
    expect(await read("${URL:-http://here}", { URL: "" })).toBe("http://here");
    expect(await read("${URL:-http://here}", { URL: "http://there" })).toBe("http://there");
    expect(await read("${URL:-a:-b}", {})).toBe("a:-b");
  });

  it("with an empty default leave the key out", async () => {
    expect(await read("${URL:-}", {})).toBeUndefined();
  });

  it("are not replaced after a second dollar sign", async () => {
    expect(await read("'$${URL} costs $5'", { URL: "x" })).toBe("${URL} costs $5");
  });

  it("leave references to secrets as they are, beside others", async () => {
    const text = "${URL} ${secret:env:TOKEN} ${secret:file:/run/{tenant}/{principal}/key}";
    expect(await read(`'${text}'`, { URL: "x" })).toBe(text.replace("${URL}", "x"));
    expect(await read("${secret:env:TOKEN}", {})).toBe("${secret:env:TOKEN}");
  });

  it("are not replaced in what a variable holds", async () => {
    expect(await read("${URL}", { URL: "${OTHER}" })).toBe("${OTHER}");
  });

  it("stand for numbers and flags where those are wanted, and for texts where texts are", async () => {
    const text =
      "embedder:\n  api_key: ${N}\nexecution:\n  max_retries: ${N}\nauto_sync: ${F}\nrouting:\n  mmr_lambda: '${L}'\n";
    const config = await parseConfig(text, "a.yaml", { N: "2", F: "false", L: "0.25" });
    expect([config.embedder.apiKey, config.execution.maxRetries, config.autoSync, config.routing.mmrLambda]).toEqual([
      "2",
      2,
      false,
      0.25,
    ]);
  });

  it("to a variable that is missing are named with their line, all of them", async () => {
    const error = await refusal("vector_store:\n  url: http://${HOST}\n  api_key: ${toString}\n");
    expect(error.message).toBe(
      "a.yaml:2:8 vector_store.url: the environment variable HOST is not set. Set it, or give a default: ${HOST:-value} (and 1 more)",
    );
    expect(error.details.issues?.[1]).toMatchObject({
      field: "vector_store.api_key",
      message: "the environment variable toString is not set (a.yaml:3:12)",
      value: "${toString}",
    });
  });

  it.each(["${}", "${1X}", "${A B}", "${A", "${A:-${B}}", "${A-b}"])(
    "written wrongly are refused: %s",
    async (text) => {
      const error = await refusal(`security:\n  deny: ['${text}']\n`);
      expect(error.details.field).toBe("security.deny.0");
      expect(error.details.fix).toBe("Write ${NAME} or ${NAME:-default}, and $${ for a literal ${.");
    },
  );
});

it("the examples of a gateway are loaded", async () => {
  const own = await loadConfig("examples/gateway.yaml", {});
  expect([own.problems, own.config.mcp.servers.map(({ name }) => name)]).toEqual([[], ["everything", "files"]]);
  expect(own.config.mcp.commonTools).toEqual(["files.read_text_file", "files.list_directory"]);
  const environment = { TICKETS_TOKEN: "t", ALICE_TOKEN: "a", CI_TOKEN: "c", PORT: "9000" };
  const { config } = await loadConfig("examples/gateway-shared.yaml", environment);
  expect(config.server).toMatchObject({ host: "0.0.0.0", port: 9000, tokens: { alice: "a", ci: "c" } });
  expect(config.mcp.servers[0]).toMatchObject({ name: "tickets", timeoutMs: 20_000, maxConcurrent: 8 });
});

describe("servers as MCP clients have them", () => {
  it("may stand in the file as they are, beside its own", async () => {
    const text = `
mcp:
  servers: [{ name: own, command: node }]
mcpServers:
  files: { command: npx, args: ["-y", "\${ROOT:-/data}"], env: { TOKEN: "\${env:TOKEN}" } }
servers:
  hub: { type: http, url: "https://\${input:where}/mcp" }
inputs: [{ id: where, default: hub.example }]
`;
    const { mcp } = await parseConfig(text, "a.yaml", { TOKEN: "t" });
    expect(mcp.servers).toEqual([
      { name: "own", command: "node" },
      { name: "files", command: "npx", args: ["-y", "/data"], env: { TOKEN: "t" } },
      { name: "hub", type: "http", url: "https://hub.example/mcp" },
    ]);
  });

  it("come from further files too; a bad one and a name that is taken are reported, and the rest is there", async () => {
    const config = join(folder, "with-clients.yaml");
    const client = join(folder, "mcp.json");
    await writeFile(config, "mcpServers:\n  a: { command: a, cwd: sub }\n  b: { command: b, env: { X: '${NONE}' } }\n");
    await writeFile(client, '{ // mine\n "mcpServers": { "a": { "command": "other" }, "c": { "url": "http://c" }, } }');
    const loaded = await loadConfig(config, {}, { mcpConfigs: [client] });
    expect(loaded.config.mcp.servers).toEqual([
      { name: "a", command: "a", cwd: join(folder, "sub") },
      { name: "c", url: "http://c" },
    ]);
    expect(loaded.problems).toMatchObject([
      { server: "b", field: "env.X", fix: "Set it, or give a default: ${NONE:-value}" },
      { server: "a", field: "name" },
    ]);
    const without = await loadConfig(undefined, {}, { mcpConfigs: [client], folder });
    expect([without.folder, without.config.mcp.servers.length]).toEqual([folder, 2]);
  });

  it.each([
    ["[]", /has no mcpServers and no servers/],
    ["{}", /has no mcpServers and no servers/],
    ['{"mcpServers": }', /bad\.json:1:16 expected a value/],
  ])("are refused as a file where there are none to read: %s", async (text, message) => {
    const path = join(folder, "bad.json");
    await writeFile(path, text);
    await expect(loadConfig(undefined, {}, { mcpConfigs: [path] })).rejects.toThrow(message);
  });

  it("are found in the settings of VS Code and in YAML", async () => {
    await writeFile(
      join(folder, "settings.json"),
      '{ "editor.x": 1, "mcp": { "servers": { "v": { "command": "v" } } } }',
    );
    await writeFile(join(folder, "mcp.yaml"), "mcpServers:\n  y: { command: y, args: ['${A:-1}'] }\n");
    const mcpConfigs = [join(folder, "settings.json"), join(folder, "mcp.yaml")];
    const { config } = await loadConfig(undefined, {}, { mcpConfigs });
    expect(config.mcp.servers).toEqual([
      { name: "v", command: "v" },
      { name: "y", command: "y", args: ["1"] },
    ]);
  });
});
