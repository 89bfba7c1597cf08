import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Place, type Ran, runInMemory } from "../../test/e2e/terminal.ts";
import { COMMANDS } from "./commands.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "arsenal-"))));
afterAll(() => rm(folder, { recursive: true }));

const ESCAPE = "\u001B[";
const run = (argv: readonly string[], place: Place = {}): Promise<Ran> => runInMemory(argv, { folder, ...place });

describe("help", () => {
  it.each([[[]], [["--help"]], [["-h"]], [["help"]]])("lists every command for %j", async (argv) => {
    const { code, out, err } = await run(argv);
    expect([code, err]).toEqual([0, ""]);
    for (const [name, { summary }] of Object.entries(COMMANDS)) {
      expect(out).toContain(`  ${name} `);
      expect(out).toContain(summary);
    }
  });

  it.each(Object.keys(COMMANDS))("of %s shows usage, every option and examples", async (name) => {
    const command = await COMMANDS[name]?.load();
    const { code, out, err } = await run([name, "--help"]);
    expect([code, err]).toEqual([0, ""]);
    expect(command?.name).toBe(name);
    const actions = Object.entries(command?.actions ?? {});
    const words = actions.length > 0 ? ["ACTION"] : (command?.positionals ?? []);
    expect(out).toContain(`  toolarsenal ${[name, ...words, "[OPTIONS]"].join(" ")}`);
    for (const [action, { positionals = [], summary }] of actions) {
      expect(out).toContain(`  ${[action, ...positionals].join(" ")} `);
      expect(out).toContain(summary);
    }
    for (const option of ["config", "json", "help", ...Object.keys(command?.options ?? {})])
      expect(out).toContain(`  --${option}`);
    for (const example of command?.examples ?? []) expect(out).toContain(`  toolarsenal ${example}`);
    expect(await run(["help", name])).toEqual({ code, out, err });
    expect(await run([name, "-h", "--whatever"])).toEqual({ code, out, err });
  });

  it.each([...Object.keys(COMMANDS).map((name) => [name, "--help"]), ["--help"]].map((argv) => [argv]))(
    "of %j breaks its descriptions between words in a terminal, and nowhere else",
    async (argv) => {
      const inTerminal = await runInMemory(argv, { isTTY: true, columns: 80, environment: { NO_COLOR: "1" } });
      const [described = ""] = inTerminal.out.split(/\n(?:Examples|Try)\n/);
      expect(described.split("\n").filter((line) => line.length > 80)).toEqual([]);
      const { out } = await run(argv);
      expect(inTerminal.out.replaceAll(/\s+/g, " ")).toBe(out.replaceAll(/\s+/g, " "));
    },
  );

  it("is data where it was asked for, also in place of arguments that are missing", async () => {
    expect((await run(["search", "--help"])).out).toContain("Usage");
  });

  it.each(["policy", "approvals", "pins", "audit", "keys", "import", "completion"])(
    "lists the actions of %s if none is given, and exits 2",
    async (name) => {
      const { out: help } = await run([name, "--help"]);
      expect(help).toContain("Actions\n");
      expect(await run([name])).toEqual({ code: 2, out: "", err: help });
      expect(await run([name, "--json"])).toMatchObject({
        code: 2,
        out: "",
        err: expect.stringMatching(/^{"error":/) as string,
      });
    },
  );

  it("is not what follows a double dash", async () => {
    const { out } = await run(["search", "--json", "--", "--help"]);
    expect(JSON.parse(out)).toMatchObject({ tools: [] });
  });
});

it.each(["--version", "-v"])("%s prints the version of the package", async (option) => {
  expect(await run([option])).toEqual({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/), err: "" });
});

describe("wrong usage", () => {
  it.each([
    [["serch", "x"], 'There is no command "serch". Did you mean "search"?'],
    [["help", "serch"], 'There is no command "serch". Did you mean "search"?'],
    [["help", "TOOL_NOT_FOND"], 'There is no error code "TOOL_NOT_FOND". Did you mean "TOOL_NOT_FOUND"?'],
    [["help", "NOPE"], 'There is no error code "NOPE". docs/reference/errors.md lists them.'],
    [["frobnicate"], 'There is no command "frobnicate". See: toolarsenal --help'],
    [["constructor"], 'There is no command "constructor". See: toolarsenal --help'],
    [["--jsn"], 'Expected a command before "--jsn". Write: toolarsenal COMMAND --jsn'],
    [["--hlep"], 'There is no option --hlep. Did you mean "--help"?'],
    [["--verison"], 'There is no option --verison. Did you mean "--version"?'],
    [["list", "--hlep"], '"list" has no option --hlep. Did you mean --help?'],
    [["policy", "tset", "x.yaml"], 'There is no action "policy tset". Did you mean "test"?'],
    [["approvals", "aprove", "x"], 'There is no action "approvals aprove". Did you mean "approve"?'],
    [["keys", "zzzzzz"], 'There is no action "keys zzzzzz". Use create, grant, list, revoke or rotate.'],
    [["audit", "constructor"], 'There is no action "audit constructor". Use verify, tail or prune.'],
    [["policy", "test"], '"policy test" needs FILE. For example: toolarsenal policy test policy.cases.yaml'],
    [["audit", "verify", "x"], '"audit verify" takes no arguments, not 1. Put quotes around text with spaces.'],
    [["keys", "create", "a", "b"], '"keys create" takes 1 argument, not 2. Put quotes around text with spaces.'],
    [["list", "--namespce", "x"], '"list" has no option --namespce. Did you mean --namespace?'],
    [["list", "--zzzzzzzz"], '"list" has no option --zzzzzzzz. See: toolarsenal list --help'],
    [["list", "-x"], '"list" has no option -x. See: toolarsenal list --help'],
    [["list", "--namespace"], "--namespace needs a value. Write --namespace N."],
    [["list", "--namespace="], "--namespace needs a value. Write --namespace N."],
    [["list", "--json=yes"], "--json is a flag and takes no value. Write --json alone."],
    [["search"], '"search" needs QUERY. For example: toolarsenal search "give the customer their money back"'],
    [["search", " "], '"search" needs QUERY. For example: toolarsenal search "give the customer their money back"'],
    [["search", "two", "words"], '"search" takes 1 argument, not 2. Put quotes around text with spaces.'],
    [["search", "x", "--limit", "many"], '--limit must be a whole number from 1 to 50, not "many".'],
    [["search", "x", "--limit", "51"], '--limit must be a whole number from 1 to 50, not "51".'],
    [
      ["list", "--source", "npm"],
      '--source cannot be "npm". Use one of function, mcp, openapi, a2a, descriptor, builtin, workflow, program.',
    ],
    [["completion", "powershell"], 'There is no action "completion powershell". Use bash, zsh or fish.'],
    [["completion", "zhs"], 'There is no action "completion zhs". Did you mean "zsh"?'],
  ])("%j exits 2 and says what to do", async (argv, message) => {
    expect(await run(argv)).toEqual({ code: 2, out: "", err: `INPUT_INVALID ${message}\n` });
  });

  it("is one JSON object on stderr with --json", async () => {
    const { code, out, err } = await run(["list", "--namespce", "x", "--json"]);
    expect([code, out]).toEqual([2, ""]);
    expect(JSON.parse(err)).toEqual({
      error: {
        code: "INPUT_INVALID",
        message: '"list" has no option --namespce. Did you mean --namespace?',
        field: "--namespce",
        value: "--namespce x --json",
        fix: "Did you mean --namespace?",
      },
    });
  });
});

describe("configuration", () => {
  it("is arsenal.yaml of the folder, or the file named, or the demo catalog with a word about it", async () => {
    const home = await mkdtemp(join(folder, "home-"));
    const demo = await run(["list"], { folder: home });
    expect(demo.err).toMatch(
      /^No arsenal\.yaml in this folder\. Using the demo catalog\.\n\d+ tools, 1 of them refused\n$/,
    );
    await writeFile(join(home, "tools.mjs"), TOOLS_MODULE);
    await writeFile(join(home, "arsenal.yaml"), "modules: [tools.mjs]\n");
    expect(await run(["list"], { folder: home })).toEqual({
      code: 0,
      out: "default.greet  Greets somebody by name.\n",
      err: "1 tool\n",
    });
    const named = await run(["list", "--config", join(home, "arsenal.yaml")]);
    expect(named.out).toBe("default.greet  Greets somebody by name.\n");
  });

  it("takes its variables from the environment of the command", async () => {
    const path = join(folder, "environment.yaml");
    await writeFile(path, "execution:\n  max_retries: ${TRIES}\n");
    expect(await run(["list", "--config", path], { environment: { TRIES: "2" } })).toMatchObject({ code: 0 });
    expect(await run(["list", "--config", path])).toMatchObject({
      code: 2,
      err: expect.stringContaining("TRIES is not set") as string,
    });
  });

  it("that is wrong exits 2 and lists every problem", async () => {
    const path = join(folder, "wrong.yaml");
    await writeFile(path, "execution:\n  max_retrys: 2\nauto_sync: maybe\n");
    const { code, out, err } = await run(["list", "--config", "wrong.yaml"]);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toBe(
      `CONFIG_INVALID ${path}:2:3 execution.max_retrys: unknown key "max_retrys". Did you mean "max_retries"? (and 1 more)
  auto_sync: must be true or false, not "maybe" (${path}:3:1). Set auto_sync to true or false.
`,
    );
  });

  it("that is not there exits 2", async () => {
    expect(await run(["list", "--config", "nowhere.yaml"])).toMatchObject({ code: 2, out: "" });
  });
});

describe("colour", () => {
  it("is only on a terminal", async () => {
    expect((await run(["search", "send an email", "--explain"])).out).not.toContain(ESCAPE);
    expect((await run(["search", "send an email", "--explain"], { isTTY: true })).out).toContain(ESCAPE);
    expect((await run(["nope"], { isTTY: true })).err).toContain(ESCAPE);
  });

  it.each([{ NO_COLOR: "1" }, { TERM: "dumb" }])("is never with %j", async (environment) => {
    for (const argv of [
      ["demo"],
      ["list"],
      ["search", "send an email", "--explain"],
      ["doctor"],
      ["--help"],
      ["nope"],
    ]) {
      const { out, err } = await run(argv, { isTTY: true, environment });
      expect(out + err).not.toContain(ESCAPE);
    }
  });

  it("is never in JSON", async () => {
    expect((await run(["list", "--json"], { isTTY: true })).out).not.toContain(ESCAPE);
  });
});

it.each([
  [["demo"], 0],
  [["list"], 0],
  [["search", "send an email", "--explain"], 0],
  [["call", "crm.find_customer", "--args", '{"name":"dana"}'], 0],
  [["call", "crm.nobody"], 1],
  [["doctor", "--running"], 0],
  [["completion", "bash"], 0],
])("%j --json prints one JSON value on stdout and nothing on stderr", async (argv, expected) => {
  const { code, out, err } = await run([...argv, "--json"]);
  expect([code, err]).toEqual([expected, ""]);
  expect(typeof JSON.parse(out)).toBe("object");
});

it("an interrupted command exits 130 and says nothing", async () => {
  const signal = AbortSignal.abort();
  for (const argv of [
    ["search", "send an email"],
    ["benchmark", "--quick", "--json"],
  ]) {
    expect(await run([...argv, "--json"], { signal })).toEqual({ code: 130, out: "", err: "" });
  }
  expect(await run(["call", "crm.find_customer", "--args", '{"name":"x"}'], { signal })).toMatchObject({ code: 130 });
});

const TOOLS_MODULE = `export default (arsenal) => arsenal.register(
  { name: "greet", description: "Greets somebody by name.",
    parameters: { type: "object", properties: { name: { type: "string" } }, required: ["name"] } },
  ({ name }) => "Hello " + name);`;

describe("text that others wrote", () => {
  const HOSTILE = "Evil \u009B31mred \u202Edetrevni \u2066x\u001B[2J\u200F";
  const STEERS = /[\u0080-\u009F\u200E\u200F\u202A-\u202E\u2066-\u2069]/u;

  it.each([
    ["list", []],
    ["search", ["evil red"]],
    ["call", ["hostile"]],
    ["call", ["hostile", "--json"]],
    ["list", ["--json"]],
    ["call", ["fails"]],
    [HOSTILE, []],
    ["list", [`--${HOSTILE}`]],
  ])("cannot steer the terminal: %s %j", async (command, more) => {
    const tools = `export default (arsenal) => {
      const definition = { description: ${JSON.stringify(HOSTILE)}, parameters: { type: "object" } };
      arsenal.register({ ...definition, name: "hostile" }, () => ${JSON.stringify(HOSTILE)});
      arsenal.register({ ...definition, name: "fails" }, () => { throw new Error(${JSON.stringify(HOSTILE)}); });
    };`;
    await writeFile(join(folder, "hostile.mjs"), tools);
    await writeFile(join(folder, "arsenal.yaml"), "modules: [./hostile.mjs]\n");
    const { out, err } = await run([command, ...more], { isTTY: true });
    await rm(join(folder, "arsenal.yaml"));
    expect(out + err).toMatch(/evil|no command|no option/i);
    expect(out + err).not.toMatch(STEERS);
    expect(out + err).not.toContain("\u001B[2J");
  });
});
