import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { bearerToken } from "../../../src/adapters/identity/bearer-token.ts";
import type { AuditLog } from "../../../src/guard/audit.port.ts";
import { localOperator, type Principal } from "../../../src/guard/principal.ts";
import type { ToolArsenalConfig, ToolArsenalParts } from "../../../src/index.ts";
import { OPERATIONS } from "../../../src/serve/rest/operations/all.ts";
import { startEcho, documentOf } from "../openapi-echo.ts";
import { openGateway, type RestAnswer } from "../../serve/rest-gateway.ts";

const person = (id: string, more: Partial<Principal> = {}): Principal =>
  localOperator({ id, roles: ["operator"], local: false, ...more });
const PEOPLE = {
  ann: person("ann"),
  tess: person("tess", { tenant: "acme" }),
  guest: person("guest", { roles: [] }),
} as const;
type Name = keyof typeof PEOPLE;
const tokenOf = (name: Name): string => `${name}-has-a-token-of-its-own`;
const identity = bearerToken({
  tokens: Object.entries(PEOPLE).map(([name, principal]) => ({ token: tokenOf(name as Name), principal })),
});

/** A gateway that keeps its audit log in a file. */
async function open(config: ToolArsenalConfig = {}, parts: ToolArsenalParts = {}) {
  const folder = mkdtempSync(join(tmpdir(), "arsenal-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "audit.jsonl");
  const policyFile = join(folder, "policy.yaml");
  writeFileSync(policyFile, "version: 1\nrules: [{ id: all, effect: allow }]\n");
  const { ask: plain, ...gateway } = await openGateway(
    { identity },
    {
      ...(parts.audit === undefined && { audit: { file } }),
      security: { policyFile, allowedDomains: ["127.0.0.1"] },
      embedder: { tier: "lexical" },
      ...config,
    },
    parts,
  );
  const ask = (name: Name, method: string, path: string, body?: unknown): Promise<RestAnswer> =>
    plain(method, path, {
      ...(body !== undefined && { body }),
      headers: { authorization: `Bearer ${tokenOf(name)}`, traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01` },
    });
  /** Every record of operators' actions, oldest first. */
  const records = async (name: Name = "ann", filter = ""): Promise<readonly Readonly<Record<string, unknown>>[]> => {
    const { body } = await ask(name, "GET", `/audit?kind=operator-action${filter}&limit=1000`);
    return body.records.toReversed();
  };
  /** How the actions of operators ended, oldest first. */
  const acts: typeof records = async (...asked) =>
    (await records(...asked)).filter(({ outcome }) => outcome !== "started");
  return { ...gateway, ask, acts, records, file };
}

const TOOL = { name: "look", namespace: "eyes", description: "Looks at something." };

describe("what operators do over REST is in the audit log", () => {
  it("with who, what, to what and how it ended", async () => {
    const { ask, acts } = await open();
    const api = await startEcho();
    onTestFinished(api.close);
    const get = { operationId: "getPet", responses: { 200: { description: "ok" } } };
    const pets = { name: "pets", document: documentOf({ "/pets": { get } }), server: api.url };
    const done: readonly (readonly [string, string, unknown?])[] = [
      ["POST", "/tools", TOOL],
      ["POST", "/tools/batch", { tools: [{ ...TOOL, name: "see" }, { name: "!" }, { ...TOOL, name: "stare" }] }],
      ["POST", "/tools/import", { format: "openai", tools: [{ type: "function", function: { name: "wink" } }] }],
      ["DELETE", "/tools/eyes.look"],
      ["POST", "/ensembles", { type: "openapi", ...pets }],
      ["POST", "/ensembles/pets/disconnect"],
      ["POST", "/ensembles/pets/connect"],
      ["POST", "/ensembles/pets/reload"],
      ["POST", "/ensembles/pets/restart"],
      ["DELETE", "/ensembles/pets"],
      ["POST", "/policy/reload"],
      ["POST", "/sync"],
    ];
    for (const [method, path, body] of done) {
      const { status, text } = await ask("ann", method, path, body);
      expect([path, status < 300, text]).toEqual([path, true, text]);
    }
    const records = await acts();
    expect(records.map(({ action, targets }) => [action, targets])).toEqual([
      ["registerTool", ["eyes.look"]],
      ["registerTools", ["eyes.see", "eyes.stare"]],
      ["importTools", ["openai.wink"]],
      ["deleteTool", ["eyes.look"]],
      ["addEnsemble", ["pets"]],
      ["disconnectEnsemble", ["pets"]],
      ["connectEnsemble", ["pets"]],
      ["reloadEnsemble", ["pets"]],
      ["restartEnsemble", ["pets"]],
      ["removeEnsemble", ["pets"]],
      ["reloadPolicy", []],
      ["sync", []],
    ]);
    for (const record of records)
      expect(record).toMatchObject({ by: "ann", outcome: "done", traceId: "a".repeat(32), at: expect.any(Number) });
    expect(records[0]).toMatchObject({
      arguments: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/), shape: { name: "string" } },
    });
  });

  it("also if it fails, or the caller may not do it", async () => {
    const { ask, acts } = await open();
    await ask("ann", "DELETE", "/tools/eyes.nothing");
    await ask("ann", "POST", "/ensembles", {
      type: "mcp",
      name: "away",
      transport: { kind: "http", url: "http://127.0.0.1:1/" },
    });
    await ask("ann", "POST", "/ensembles", { type: "mcp", name: "shell", transport: { kind: "stdio", command: "sh" } });
    await ask("guest", "POST", "/ensembles/away/connect");
    await ask("guest", "POST", "/tools", TOOL);
    await ask("ann", "POST", "/tools", { name: 5 });
    expect(await acts()).toMatchObject([
      { action: "deleteTool", targets: ["eyes.nothing"], by: "ann", outcome: "failed", code: "TOOL_NOT_FOUND" },
      { action: "addEnsemble", targets: ["away"], outcome: "failed", code: "SOURCE_UNAVAILABLE" },
      { action: "addEnsemble", targets: ["shell"], outcome: "denied", code: "PERMISSION_DENIED" },
      { action: "connectEnsemble", targets: ["away"], by: "guest", outcome: "denied", code: "PERMISSION_DENIED" },
      { action: "registerTool", targets: [], by: "guest", outcome: "denied", code: "PERMISSION_DENIED" },
    ]);
  });

  it("before it is done, and again with its outcome", async () => {
    const { ask, records } = await open();
    await ask("ann", "POST", "/tools", TOOL);
    await ask("ann", "DELETE", "/tools/eyes.nothing");
    await ask("guest", "POST", "/tools", TOOL);
    const found = await records();
    expect(found).toMatchObject([
      { action: "registerTool", targets: ["look"], by: "ann", outcome: "started", arguments: expect.anything() },
      { action: "registerTool", targets: ["eyes.look"], outcome: "done", id: found[0]?.["id"] },
      { action: "deleteTool", targets: ["eyes.nothing"], outcome: "started" },
      { action: "deleteTool", targets: ["eyes.nothing"], outcome: "failed", id: found[2]?.["id"] },
      { action: "registerTool", by: "guest", outcome: "denied" },
    ]);
    expect(new Set(found.map(({ id }) => id)).size).toBe(3);
  });

  it("as failed if an ensemble could not be connected", async () => {
    const { ask, acts } = await open();
    const api = await startEcho((_request, response) => {
      const document = documentOf({ "/pets": { get: { operationId: "getPet", responses: {} } } });
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(document));
    });
    const { status } = await ask("ann", "POST", "/ensembles", {
      type: "openapi",
      name: "pets",
      document: `${api.url}/o.json`,
    });
    expect(status).toBe(201);
    await ask("ann", "POST", "/ensembles/pets/disconnect");
    await api.close();
    expect((await ask("ann", "POST", "/ensembles/pets/connect")).body).toMatchObject({ state: "failed" });
    expect((await acts()).at(-1)).toMatchObject({ action: "connectEnsemble", outcome: "failed" });
  });

  it("and found by kind, action, target, operator and outcome", async () => {
    const { ask, acts } = await open();
    await ask("tess", "POST", "/tools", TOOL);
    await ask("ann", "DELETE", "/tools/eyes.look");
    await ask("ann", "DELETE", "/tools/eyes.look");
    const found = async (filter: string): Promise<unknown> => (await acts("ann", filter)).map(({ action }) => action);
    expect(await found("&tool=eyes.look")).toEqual(["registerTool", "deleteTool", "deleteTool"]);
    expect(await found("&principal=tess")).toEqual(["registerTool"]);
    expect(await found("&status=failed")).toEqual(["deleteTool"]);
    expect(await found("&action=registerTool")).toEqual(["registerTool"]);
    expect(await found(`&trace=${"a".repeat(32)}`)).toHaveLength(3);
    expect((await acts("tess")).map(({ by, tenant }) => [by, tenant])).toEqual([["tess", "acme"]]);
  });

  it("bounded, however many tools are registered at once", async () => {
    const { ask, acts } = await open();
    const tools = Array.from({ length: 250 }, (_, at) => ({ ...TOOL, name: `tool_${at}` }));
    await ask("ann", "POST", "/tools/batch", { tools });
    const [record] = await acts();
    expect(record).toMatchObject({ more: 150 });
    expect(record?.["targets"]).toHaveLength(100);
  });

  it("in the same chain as calls, so that a record that was changed is found", async () => {
    const { ask, file, arsenal } = await open();
    await ask("ann", "POST", "/tools", TOOL);
    await arsenal.execute({ toolName: "billing.list_invoices" });
    await ask("ann", "DELETE", "/tools/eyes.look");
    expect((await ask("ann", "POST", "/audit/verify", {})).body).toMatchObject({ ok: true });
    const lines = readFileSync(file, "utf8").split("\n");
    const at = lines.findIndex((line) => line.includes('"registerTool"'));
    const { seq } = JSON.parse(lines[at] ?? "") as { seq: number };
    writeFileSync(file, "");
    appendFileSync(file, lines.with(at, (lines[at] ?? "").replace('"by":"ann"', '"by":"bob"')).join("\n"));
    expect((await ask("ann", "POST", "/audit/verify", {})).body).toMatchObject({ ok: false, seq });
  });

  it("or nothing is done under a strict policy", async () => {
    let broken = true;
    const refuse = async (): Promise<never> => {
      throw new Error("disk full");
    };
    const audit: AuditLog = {
      name: "broken",
      append: async () => (broken ? refuse() : undefined),
      head: async () => (broken ? refuse() : { seq: 0, hash: "0".repeat(64) }),
      close: async () => {},
    };
    const { ask, arsenal } = await open({ security: { policy: "strict" } }, { audit });
    expect((await ask("ann", "POST", "/tools", TOOL)).body).toMatchObject({ code: "AUDIT_FAILED", status: 500 });
    expect(await arsenal.getTool("look", "eyes")).toBe(undefined);
    broken = false;
    expect((await ask("ann", "POST", "/tools", TOOL)).status).toBe(201);
  });
});

it("every operation of operators that changes something is recorded", () => {
  /** Requests with a body that only ask. */
  const READS: ReadonlySet<string> = new Set(["explainPolicy", "testPolicy", "verifyAudit"]);
  /** Saved programs leave their own records, because the library and the command line change them too: saved-programs.test.ts. */
  const RECORDED_BELOW: ReadonlySet<string> = new Set(["acceptProgram"]);
  const unrecorded = OPERATIONS.filter(({ role, method, id, targets }) => {
    return (
      role === "operator" && method !== "get" && targets === undefined && !READS.has(id) && !RECORDED_BELOW.has(id)
    );
  });
  expect(unrecorded.map(({ id }) => id)).toEqual([]);
});
