import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openaiEvents } from "../../../examples/support/openai-events.ts";
import { type Reply, type ScriptedModel, serveScript } from "../../../examples/support/scripted-model.ts";
import type { AgentEvent } from "../../../src/agent/index.ts";
import { openModel } from "../../doubles/llms/model-double.ts";
import { MAIN } from "../../kit/program.ts";

const TINY = fileURLToPath(new URL("../tiny-server.ts", import.meta.url));
const ESCAPE = "\u001B";

let folder: string;
const opened: { close(): unknown }[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "arsenal-chat-"));
});
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close();
  rmSync(folder, { recursive: true });
});

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs the program in its own process, in an empty folder that is also its home. */
async function toolarsenal(
  args: readonly string[],
  stdin = "",
  environment: object = {},
  onStart: (child: ChildProcess) => void = () => {},
): Promise<Ran> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: folder, TOOLARSENAL_TIER: "lexical", ...environment },
  });
  onStart(child);
  child.stdin.end(stdin);
  const closed = new Promise<number | null>((resolve) => child.once("close", resolve));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { code, out, err };
}

/** A model that needs no key, and the options that lead to it. */
async function scripted(...script: readonly Reply[]): Promise<{ model: ScriptedModel; options: readonly string[] }> {
  const model = await serveScript(script, openaiEvents);
  opened.push(model);
  return { model, options: ["--model", "scripted", "--api-base", model.url] };
}

const call = (name: string, args: object): Reply => ({ calls: [{ id: "call_1", name, arguments: args }] });
const FIND = call("crm-find_customer", { name: "Dana" });
const REFUND = call("billing-process_refund", { order_id: "1042" });

describe("toolarsenal chat", () => {
  it("answers with the demo catalog: the answer on stdout, tools and tokens on stderr, no colours", async () => {
    const { model, options } = await scripted(FIND, { text: "Dana lives in Berlin." });
    const { code, out, err } = await toolarsenal(["chat", "Where does the customer Dana live?", ...options]);
    expect({ code, out }).toEqual({ code: 0, out: "Dana lives in Berlin.\n" });
    expect(err).toMatch(/tools: .*crm\.find_customer/);
    expect(err).toContain('→ crm-find_customer {"name":"Dana"}\n');
    expect(err).toMatch(/← crm-find_customer success \d+ ms\n/);
    expect(err).toMatch(/2 steps, \d+ tokens in, \d+ out\n$/);
    expect(out + err).not.toContain(ESCAPE);
    expect(JSON.stringify(model.requests[1])).toContain("Berlin");
  });

  it("talks to the configured model with the configured servers, and takes the prompt from a pipe", async () => {
    const model = await openModel("anthropic", [
      { calls: [{ name: "tiny-greet", arguments: {} }] },
      ({ results }) => ({ text: `It says ${results[0]?.text ?? ""}.` }),
    ]);
    opened.push(model);
    const { apiKey, apiBase } = model.settings;
    writeFileSync(
      join(folder, "arsenal.yaml"),
      [
        `llm: { type: anthropic, model: scripted-1, api_base: "${apiBase ?? ""}", api_key: env:MODEL_KEY }`,
        `mcp: { servers: [{ name: tiny, command: "${process.execPath}", args: ["${TINY}"] }] }`,
      ].join("\n"),
    );
    const { code, out, err } = await toolarsenal(["chat"], "Say hello\n", { MODEL_KEY: apiKey });
    expect({ code, out, err }).toMatchObject({ code: 0, out: "It says Hello.\n" });
    expect(model.asked[0]?.prompt).toBe("Say hello\n");
    expect(out + err).not.toContain(apiKey);
  });

  it("prints every event as a line of JSON with --json", async () => {
    const { options } = await scripted(FIND, { text: "In Berlin." });
    const { code, out, err } = await toolarsenal(["chat", "Where does Dana live?", "--json", ...options]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const events = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as AgentEvent);
    expect(events[0]).toEqual({ type: "step-started", step: 1 });
    expect(events.at(-1)).toMatchObject({ type: "finished", status: "answered", text: "In Berlin." });
  });

  it("keeps a call that needs approval, and goes on after it was approved, in new processes", async () => {
    const { options } = await scripted(REFUND, { text: "Refunded." });
    const asked = await toolarsenal(["chat", "Refund order 1042", ...options]);
    expect(asked).toMatchObject({ code: 1, out: "" });
    const [, approve = ""] = /approvals approve (\S+)/.exec(asked.err) ?? [];
    const [, file = ""] = /chat --resume (\S+)/.exec(asked.err) ?? [];
    expect(statSync(file).mode & 0o777).toBe(0o600);

    const still = await toolarsenal(["chat", "--resume", file, ...options]);
    expect(still.code).toBe(1);
    expect(await toolarsenal(["approvals", "approve", approve])).toMatchObject({ code: 0 });
    const done = await toolarsenal(["chat", "--resume", file, ...options]);
    expect(done).toMatchObject({ code: 0, out: "Refunded.\n" });
    expect(done.err).toMatch(/← billing-process_refund success/);
  });

  it("saves a chat and goes on with it", async () => {
    const { model, options } = await scripted({ text: "Hello." }, { text: "Still here." });
    await toolarsenal(["chat", "Hi", "--save", "chat.json", ...options]);
    expect(JSON.parse(readFileSync(join(folder, "chat.json"), "utf8"))).toMatchObject({ status: "answered" });
    const { out } = await toolarsenal(["chat", "And now?", "--resume", "chat.json", ...options]);
    expect(out).toBe("Still here.\n");
    expect(JSON.stringify(model.requests[1])).toMatch(/Hi.*Hello\..*And now\?/);
  });

  it("is cancelled by Ctrl-C, and can be resumed from what it saved", async () => {
    let child: ChildProcess | undefined;
    const hang = new Promise<never>(() => {});
    const model = await openModel("openai", [() => (child?.kill("SIGINT"), hang), { text: "Here I am." }]);
    opened.push(model);
    const { apiKey, apiBase = "" } = model.settings;
    writeFileSync(join(folder, "arsenal.yaml"), `llm: { model: m, api_base: "${apiBase}", api_key: env:MODEL_KEY }`);
    const key = { MODEL_KEY: apiKey };
    const stopped = await toolarsenal(["chat", "Hi", "--save", "chat.json"], "", key, (started) => (child = started));
    expect(stopped).toMatchObject({ code: 130, out: "" });
    const resumed = await toolarsenal(["chat", "--resume", "chat.json"], "", key);
    expect(resumed).toMatchObject({ code: 0, out: "Here I am.\n" });
  });

  it("says what to write into arsenal.yaml if no model is configured", async () => {
    const { code, out, err } = await toolarsenal(["chat", "Hi"]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("No model is configured. Add this to arsenal.yaml, or give --llm and --model:");
    expect(err).toContain("llm:\n    type: openai\n    model: gpt-5-mini\n    api_key: env:OPENAI_API_KEY\n");
  });

  it("names the key that is missing, and the API that does not exist", async () => {
    const { code, err } = await toolarsenal(["chat", "Hi", "--model", "gpt-5-mini"]);
    expect(code).toBeGreaterThan(0);
    expect(err).toContain("OPENAI_API_KEY");
    const other = await toolarsenal(["chat", "Hi", "--llm", "opanai"]);
    expect(other.code).toBe(2);
    expect(other.err).toContain("Use one of anthropic, gemini, openai");
  });

  it("refuses a file that is not a chat, and an empty prompt", async () => {
    writeFileSync(join(folder, "chat.json"), '{"type":"toolarsenal/agent-run","version":9}');
    const { options } = await scripted();
    const newer = await toolarsenal(["chat", "--resume", "chat.json", ...options]);
    expect(newer).toMatchObject({
      code: 2,
      err: expect.stringMatching(/chat\.json: Cannot resume.*update\.\n$/) as string,
    });
    const missing = await toolarsenal(["chat", "--resume", "none.json", ...options]);
    expect(missing).toMatchObject({ code: 2, err: expect.stringContaining("cannot be read") as string });
    expect(await toolarsenal(["chat", ...options])).toMatchObject({
      code: 2,
      err: expect.stringContaining("There is nothing to ask the model.") as string,
    });
  });

  it("lets no text of a model or a tool steer the terminal", async () => {
    const evil = `${ESCAPE}[2J\r${ESCAPE}[Kgone`;
    const { options } = await scripted(call(`no_${evil}`, { name: evil }), { text: "Fine." });
    const { err } = await toolarsenal(["chat", "Where does Dana live?", ...options]);
    expect(err).not.toContain(ESCAPE);
    expect(err).not.toContain("\r");
  });
});
