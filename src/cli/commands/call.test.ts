import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Place, type Ran, runInMemory } from "../../../test/e2e/terminal.ts";
import { localOperator, ToolArsenal } from "../../index.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "arsenal-"))));
afterAll(() => rm(folder, { recursive: true }));

const run = (argv: readonly string[], place: Place = {}): Promise<Ran> =>
  runInMemory(["call", ...argv], { folder, ...place });

it("suggests the id of a tool whose name for models was misspelled", async () => {
  const { code, err } = await run(["crm-find_custome"]);
  expect(code).toBe(1);
  expect(err).toContain('Did you mean "crm.find_customer"?');
});

describe("call", () => {
  it("prints the result on stdout", async () => {
    const { code, out, err } = await run(["crm.find_customer", "--args", '{"name":"dana"}']);
    expect([code, err]).toEqual([0, "No arsenal.yaml in this folder. Using the demo catalog.\n"]);
    expect(out).toMatch(
      /^Tool Execution Result\nTool: crm\.find_customer\nArguments: {"name": "dana"}\nOutput: .*Whitfield/,
    );
  });

  it("reads arguments from a file", async () => {
    await writeFile(join(folder, "args.json"), '{"name": "dana"}\n');
    expect((await run(["find_customer", "--args-file", "args.json"])).out).toContain("Whitfield");
  });

  it("runs the tool with --no-cache though its result is cached", async () => {
    const tools = `export default async (arsenal) => {
      let runs = 0;
      arsenal.register({ name: "read", description: "Reads.", annotations: { readOnly: true } }, () => ++runs);
      await arsenal.execute({ toolName: "read" });
    };`;
    await writeFile(join(folder, "read.mjs"), tools);
    await writeFile(join(folder, "cached.yaml"), "modules: [read.mjs]\nexecution: { result_cache: {} }\n");
    const call = ["read", "--config", "cached.yaml", "--json"];
    expect(JSON.parse((await run(call)).out)).toMatchObject({ result: 1, cached: true });
    expect(JSON.parse((await run([...call, "--no-cache"])).out)).toMatchObject({ result: 2, attempts: 1 });
  });

  it("takes the name a model was shown", async () => {
    expect((await run(["crm-find_customer", "--args", '{"name":"dana"}'])).code).toBe(0);
  });

  it.each([
    [["crm.nobody"], 'No tool "crm.nobody" is registered.'],
    [["crm.find_custmer"], 'Did you mean "crm.find_customer"?'],
    [["data.drop_table", "--args", '{"table":"x"}'], "TOOL_NOT_FOUND"],
    [["crm.find_customer", "--args", '{"nam":"dana"}'], "name: expected string, received nothing"],
  ])("%j is a failure: exit 1, told on stderr", async (argv, message) => {
    const text = await run(argv);
    const json = await run([...argv, "--json"]);
    expect([text.code, text.out, json.code, json.err]).toEqual([1, "", 1, ""]);
    expect(text.err + json.out).toContain(message);
    expect(JSON.parse(json.out)).toMatchObject({ status: "failure" });
  });

  it.each([
    [["x", "--args", "{"], '--args: "{" is not JSON'],
    [["x", "--args", "[1]"], "--args: [1] is not a JSON object. Write the arguments as a JSON object"],
    [["x", "--args", "null"], "--args: null is not a JSON object"],
    [["x", "--args-file", "nowhere.json"], "--args-file: cannot read nowhere.json. Check the path."],
    [["x", "--args", "{}", "--args-file", "a"], '--args: cannot be combined with --args-file "a". Use one of the two.'],
    [[], '"call" needs TOOL.'],
  ])("%j is wrong usage: exit 2", async (argv, message) => {
    const { code, out, err } = await run(argv);
    expect([code, out, err]).toEqual([2, "", expect.stringContaining(message)]);
  });

  const refund = ["billing.process_refund", "--args", '{"order_id":"1042"}'];

  it("that must be approved exits 1 and shows the id", async () => {
    const { code, out, err } = await run(refund);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(/^ +Approve it: .* approvals approve [0-9a-f]{32}$/m);
    expect(err).toContain("run it again with --approve");
    expect(JSON.parse((await run([...refund, "--json"])).out)).toMatchObject({
      status: "pending_confirmation",
      confirmationId: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
    });
  });

  it("--approve runs it unless the operator may not approve their own calls", async () => {
    expect(await run([...refund, "--approve"])).toMatchObject({
      code: 0,
      out: expect.stringContaining('"refunded"') as string,
    });
    await writeFile(
      join(folder, "tools.mjs"),
      `export default (arsenal) => arsenal.register(
        { name: "delete_all", description: "Deletes everything there is.", parameters: { type: "object" } }, () => "gone");`,
    );
    await writeFile(join(folder, "free.yaml"), "modules: [tools.mjs]\n");
    expect((await run(["delete_all", "--approve", "--config", "free.yaml"])).code).toBe(0);
    await writeFile(join(folder, "strict.yaml"), "modules: [tools.mjs]\nsecurity: { self_approval: never }\n");
    const refused = await run(["delete_all", "--approve", "--config", "strict.yaml"]);
    expect([refused.code, refused.out, refused.err]).toEqual([1, "", expect.stringContaining("APPROVAL_INVALID")]);
    expect(refused.err).not.toContain("gone");
  });

  it("that must be approved elsewhere says where, and names no command", async () => {
    const module = `export default (arsenal) => arsenal.register(
      { name: "pay", description: "Pays a bill.", parameters: { type: "object" } }, () => {
        const about = { name: "ArsenalError", code: "CONFIRMATION_REQUIRED", details: {} };
        throw Object.assign(new Error("Approve 7 at the bank."), about);
      });`;
    await writeFile(join(folder, "elsewhere.mjs"), module);
    await writeFile(join(folder, "elsewhere.yaml"), "modules: [elsewhere.mjs]\n");
    expect(await run(["pay", "--config", "elsewhere.yaml"])).toMatchObject({
      code: 1,
      err: "Approve 7 at the bank.\n",
    });
  });

  it("runs what somebody else has approved when the command is repeated", async () => {
    await writeFile(
      join(folder, "waiting.mjs"),
      `export default (arsenal) => arsenal.register(
        { name: "delete_one", description: "Deletes one thing.", parameters: { type: "object" } }, () => "gone");`,
    );
    const file = join(folder, "state.sqlite");
    await writeFile(join(folder, "waiting.yaml"), `modules: [waiting.mjs]\nstate: { file: ${JSON.stringify(file)} }\n`);
    const again = (): Promise<Ran> => run(["delete_one", "--config", "waiting.yaml"]);
    const [, id = ""] = /approvals approve ([0-9a-f]{32}) --config waiting\.yaml$/m.exec((await again()).err) ?? [];
    expect((await again()).code).toBe(1);
    await using other = new ToolArsenal({ telemetry: { enabled: false }, state: { file } });
    await other.approvals.approve(id, localOperator({ id: "dana" }));
    expect(await again()).toMatchObject({ code: 0, out: expect.stringContaining("gone") as string });
    expect((await again()).code).toBe(1);
  });

  it("shows escape codes that a tool returns to a pipe, and leaves them out on a terminal", async () => {
    await writeFile(
      join(folder, "evil.mjs"),
      `export default (arsenal) => arsenal.register(
        { name: "evil", description: "Returns escape codes.", parameters: { type: "object" } }, () => "a\\u001B[2Jb");`,
    );
    await writeFile(join(folder, "evil.yaml"), "modules: [evil.mjs]\n");
    expect((await run(["evil", "--config", "evil.yaml"])).out).toContain(String.raw`Output: a\u001b[2Jb`);
    expect((await run(["evil", "--config", "evil.yaml"], { isTTY: true })).out).toContain("Output: ab");
  });
});
