import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { McpServer } from "@modelcontextprotocol/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { ToolArsenal } from "../../src/arsenal.ts";
import { consoleSink } from "../../src/adapters/sinks/console.ts";
import type { ToolResult } from "../../src/execute/result.ts";
import type { ArsenalEvent } from "../../src/observe/events.ts";
import { listenAs } from "./era-server.ts";
import { documentOf, startEcho } from "./openapi-echo.ts";
import { FORMS, SECRETS, thirds, tracesOf } from "./planted-secrets/secrets.ts";

const LEAKY = fileURLToPath(new URL("planted-secrets/leaky-server.ts", import.meta.url));
const FORM_NAMES = Object.keys(FORMS);
/** What can be sent as a header. */
const IN_HEADERS = SECRETS.flatMap((secret, index) => (/^[\x20-\x7e]+$/.test(secret) ? [index] : []));

/** Every other one lies in a file, the others in the environment. */
const isInFile = (index: number): boolean => index % 2 === 0;

let folder: string;
const environment: Record<string, string> = {};
const close: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "planted-"));
  for (const [index, secret] of SECRETS.entries()) {
    if (isInFile(index)) await writeFile(join(folder, `secret-${index}`), `${secret}\n`, { mode: 0o600 });
    else environment[`PLANTED_${index}`] = secret;
  }
});
afterAll(async () => {
  for (const end of close.splice(0).toReversed()) await end();
  await rm(folder, { recursive: true });
});

function referenceTo(index: number): `env:${string}` | `file:${string}` {
  return isInFile(index) ? `file:${join(folder, `secret-${index}`)}` : `env:PLANTED_${index}`;
}

/** An arsenal with a leaky tool of every kind, and all that it shows or keeps. */
async function leakyArsenal(kept: "shape" | "full") {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const auditFile = join(folder, `audit-${kept}.jsonl`);
  const arsenal = new ToolArsenal({
    telemetry: { enabled: false },
    audit: { file: auditFile, arguments: kept, fsync: "close" },
    security: { maxRequestsPerMinute: 100_000 },
    execution: { maxRetries: 2, retryBaseMs: 1, circuitBreakerThreshold: 1_000 },
    environment,
    sinks: [consoleSink({ level: "debug", stream })],
  });
  const events: ArsenalEvent[] = [];
  arsenal.subscribe((event) => void events.push(event));
  close.push(() => arsenal.close());
  await addFunction(arsenal);
  await addStdio(arsenal);
  await addHttp(arsenal);
  await addOpenApi(arsenal);
  return { arsenal, lines, events, auditFile };
}

const PARAMETERS = {
  type: "object",
  properties: { index: { type: "integer" }, form: { type: "string" }, how: { type: "string" } },
} as const;

async function addFunction(arsenal: ToolArsenal): Promise<void> {
  const definition = { name: "leak", namespace: "function", description: "Repeats a secret.", parameters: PARAMETERS };
  arsenal.register({ ...definition, annotations: { readOnly: true } }, ({ index = 0, form = "", how }, context) => {
    const text = FORMS[form]?.(SECRETS[index] ?? "") ?? "";
    if (how === "error") throw new Error(`was ${text}`, { cause: new Error(text) });
    if (how === "progress")
      for (const [progress, message] of thirds(text).entries()) context.progress({ progress, message });
    return text;
  });
}

async function addStdio(arsenal: ToolArsenal): Promise<void> {
  const env = Object.fromEntries(SECRETS.map((_, index) => [`SECRET_${index}`, referenceTo(index)]));
  const transport = { kind: "stdio", command: process.execPath, args: [LEAKY], env } as const;
  await arsenal.addMcpServer({ name: "stdio", transport });
}

async function addHttp(arsenal: ToolArsenal): Promise<void> {
  const inputSchema = z.object({ index: z.number(), form: z.string(), how: z.string() });
  const build = (): McpServer => {
    const server = new McpServer({ name: "http", version: "1.0.0" });
    server.registerTool("leak", { description: "Repeats a secret.", inputSchema }, async (asked, { http, mcpReq }) => {
      const { headers } = (http as { readonly req: Request }).req;
      const text = FORMS[asked.form]?.(headers.get(`x-secret-${asked.index}`) ?? "") ?? "";
      if (asked.how === "error") throw new Error(`was ${text}`);
      if (asked.how === "progress") {
        const progressToken = mcpReq._meta?.progressToken ?? "";
        for (const [progress, message] of thirds(text).entries())
          await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, message } });
      }
      return { content: [{ type: "text", text }] };
    });
    return server;
  };
  const upstream = await listenAs("legacy", build);
  close.push(() => upstream.close());
  const headers = Object.fromEntries(
    IN_HEADERS.map((index) => [`X-Secret-${index}`, `\${secret:${referenceTo(index)}}`]),
  );
  await arsenal.addMcpServer({ name: "http", transport: { kind: "http", url: upstream.url, headers } });
}

async function addOpenApi(arsenal: ToolArsenal): Promise<void> {
  const server = await startEcho((request, response) => {
    const { searchParams } = new URL(request.url ?? "", "http://localhost");
    const secret = searchParams.get(`key${searchParams.get("index")}`) ?? "";
    const text = FORMS[searchParams.get("form") ?? ""]?.(secret) ?? "";
    // Both what was asked for and the whole address, as servers do.
    response.writeHead(searchParams.get("how") === "error" ? 503 : 200, { "content-type": "text/plain" });
    response.end(searchParams.get("how") === "error" ? `${text} was in ${request.url}` : text);
  });
  close.push(() => server.close());
  const names = SECRETS.map((_, index) => `key${index}`);
  const parameters = ["index", "form", "how"].map((name) => ({
    name,
    in: "query",
    schema: PARAMETERS.properties[name as "how"],
  }));
  const document = documentOf(
    { "/leak": { get: { operationId: "leak", description: "Repeats a secret.", parameters, responses: {} } } },
    {
      security: [Object.fromEntries(names.map((name) => [name, []]))],
      components: {
        securitySchemes: Object.fromEntries(names.map((name) => [name, { type: "apiKey", in: "query", name }])),
      },
    },
  );
  const credentials = Object.fromEntries(names.map((name, index) => [name, referenceTo(index)]));
  await arsenal.add({ type: "openapi", name: "openapi", document, server: server.url, credentials });
}

/** Has every tool repeat every secret in every form in every way, and be called with it. */
async function leakEverything(arsenal: ToolArsenal): Promise<readonly ToolResult[]> {
  const ways: readonly (readonly [tool: string, ways: readonly string[]])[] = [
    ["function.leak", ["result", "error", "progress"]],
    ["stdio.leak", ["result", "error", "refusal", "progress", "stderr"]],
    ["http.leak", ["result", "error", "progress"]],
    ["openapi.leak", ["result", "error"]],
  ];
  const results: ToolResult[] = [];
  for (const [index, secret] of SECRETS.entries()) {
    for (const [toolName, hows] of ways) {
      if (toolName === "http.leak" && !IN_HEADERS.includes(index)) continue;
      const asked = hows.flatMap((how) => FORM_NAMES.map((form) => ({ index, form, how })));
      results.push(...(await Promise.all(asked.map((args) => arsenal.execute({ toolName, arguments: args })))));
    }
    // In arguments, names of arguments, and what else a caller may choose; refused for its arguments too.
    for (const form of Object.values(FORMS)) {
      const text = form(secret);
      const call = { toolName: "function.leak", arguments: { how: text, [text]: [{ text }] } };
      const wrong = { toolName: "function.leak", arguments: { index: text } };
      const chosen = { traceId: text, parentSpanId: text, idempotencyKey: text.slice(0, 200) };
      results.push(await arsenal.execute({ ...call, ...chosen }), await arsenal.execute(wrong));
      results.push(await arsenal.execute({ toolName: text, arguments: {} }));
      await arsenal.retrieve({ context: { query: `what is ${text}?` } });
    }
  }
  return results;
}

/** The secrets, by their number, of which anything is found. */
function foundIn(text: string): readonly number[] {
  return SECRETS.flatMap((secret, index) => (tracesOf(secret).some((trace) => text.includes(trace)) ? [index] : []));
}

/** Every text in plain data, and the names of its members. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [name, ...textsIn(member)]);
}

/** The arguments of every process on this machine that can be read. */
function commandLines(): string {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8");
      } catch {
        return "";
      }
    })
    .join("\n");
}

describe.each(["full", "shape"] as const)("twenty planted secrets, with the audit's arguments %s", (kept) => {
  let leaky: Awaited<ReturnType<typeof leakyArsenal>>;
  let results: readonly ToolResult[];
  let shownWhileRunning: string;

  beforeAll(async () => {
    leaky = await leakyArsenal(kept);
    results = await leakEverything(leaky.arsenal);
    shownWhileRunning = process.platform === "linux" ? commandLines() : "";
    const failed = Promise.withResolvers<void>();
    leaky.arsenal.subscribe(({ name }) => {
      if (name === "ensemble-failed") failed.resolve();
    });
    await leaky.arsenal.execute({ toolName: "stdio.leak", arguments: { index: 3, form: "raw", how: "exit" } });
    await failed.promise;
    await leaky.arsenal.close();
  });

  it("are repeated by every tool: its results are its answer, and reach the caller as they are", () => {
    const answers = new Set(
      results
        .filter(({ status }) => status === "success")
        .map(({ toolName, result }) => {
          const text = typeof result === "string" ? result : JSON.stringify(result);
          return `${toolName} ${foundIn(text).join()}`;
        }),
    );
    const all = SECRETS.map((_, index) => index);
    const expected = ["function.leak", "stdio.leak", "openapi.leak"].flatMap((tool) =>
      all.map((index) => `${tool} ${index}`),
    );
    expect(
      [...expected, ...IN_HEADERS.map((index) => `http.leak ${index}`)].filter((each) => !answers.has(each)),
    ).toEqual([]);
  });

  it("are in no error of any result", () => {
    const errors = results.flatMap(({ error }) => (error === undefined ? [] : [error]));
    expect(errors.length).toBeGreaterThan(SECRETS.length * FORM_NAMES.length * 5);
    expect(foundIn([JSON.stringify(errors), ...textsIn(errors)].join("\n"))).toEqual([]);
  });

  it("are in no event", () => {
    const names = new Set(leaky.events.map(({ name }) => name));
    expect(
      ["call-progressed", "call-retried", "call-finished", "retrieval-finished", "ensemble-failed"].filter(
        (name) => !names.has(name as never),
      ),
    ).toEqual([]);
    expect(foundIn([JSON.stringify(leaky.events), ...textsIn(leaky.events)].join("\n"))).toEqual([]);
  });

  it("cannot be put together again from the messages of a call's progress", () => {
    const bySpan = new Map<string, string>();
    for (const { name, data } of leaky.events)
      if (name === "call-progressed") bySpan.set(data.spanId, (bySpan.get(data.spanId) ?? "") + data.message);
    expect(bySpan.size).toBeGreaterThan(SECRETS.length * FORM_NAMES.length * 2);
    expect(foundIn([...bySpan.values()].join("\n"))).toEqual([]);
  });

  it("are in no line of the log", () => {
    const parsed = leaky.lines
      .join("")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown);
    expect(parsed.length).toBeGreaterThan(1_000);
    expect(foundIn([...leaky.lines, ...textsIn(parsed)].join("\n"))).toEqual([]);
  });

  it("are nowhere in the audit file [000-15.1-secrets]", async () => {
    const text = await readFile(leaky.auditFile, "utf8");
    const parsed = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown);
    expect(parsed.length).toBeGreaterThanOrEqual(results.length);
    expect(foundIn([text, ...textsIn(parsed)].join("\n"))).toEqual([]);
  });

  // because it reads /proc.
  it.runIf(process.platform === "linux")("are in the arguments of no process", () => {
    expect(shownWhileRunning).toContain("leaky-server.ts");
    expect(foundIn(shownWhileRunning)).toEqual([]);
  });
});

describe("a server that cannot be connected", () => {
  it("is told of without the secrets it repeats, in what is thrown, its stack and its causes", async () => {
    const server = await startEcho((request, response) => {
      const key = String(request.headers["x-key"]);
      response.writeHead(400, { "content-type": "text/plain" }).end(`no ${key}, ${btoa(key)}`);
    });
    close.push(() => server.close());
    await using arsenal = new ToolArsenal({ telemetry: { enabled: false }, environment });
    const transport = { kind: "http", url: server.url, headers: { "X-Key": referenceTo(9) } } as const;
    const error: unknown = await arsenal.addMcpServer({ name: "no", transport }).catch((thrown: unknown) => thrown);
    const shown = inspect(error, { depth: 20 });
    expect(shown).toContain("no [redacted], [redacted]");
    expect(foundIn(shown)).toEqual([]);
  });
});

describe("the process of one server", () => {
  it("has its own secrets and no other server's", async () => {
    await using arsenal = new ToolArsenal({
      telemetry: { enabled: false },
      environment: { ...environment, UNASKED: "in-nobody's-settings" },
    });
    const add = (name: string, index: number): Promise<number> => {
      const env = { [`SECRET_${index}`]: referenceTo(index) };
      return arsenal.addMcpServer({
        name,
        transport: { kind: "stdio", command: process.execPath, args: [LEAKY], env },
      });
    };
    await add("one", 0);
    await add("two", 1);
    const asked = [
      ["one", 0],
      ["one", 1],
      ["two", 0],
      ["two", 1],
    ] as const;
    const answers = await Promise.all(
      asked.map(async ([server, index]) => {
        const call = { toolName: `${server}.leak`, arguments: { index, form: "raw", how: "result" } };
        const { result } = await arsenal.execute(call);
        return (result as { readonly content: readonly { readonly text: string }[] }).content[0]?.text;
      }),
    );
    expect(answers).toEqual([SECRETS[0], "", "", SECRETS[1]]);
  });
});
