import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repeats } from "../../kit/effort.ts";
import { type GatewayProcess, startGateway } from "../gateway-process.ts";
import { runInMemory } from "../terminal.ts";

const MEBIBYTE = 1024 * 1024;
/** Just below what the gateway reads of one request. */
const NEARLY_ALL = 4 * MEBIBYTE - 4096;
/** How much the process may have grown when the flood is over: its heap is limited to 256 MiB, and buffers are outside of it. */
const MOST_GROWTH = 288 * MEBIBYTE;
/** Together they are larger than what the process may grow. */
const MESSAGES = repeats(90, 500);

let folder: string;
const keys = { eve: "", ada: "" };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "toolarsenal-hostile-a2a-"));
  const file = join(folder, "keys.json");
  for (const name of ["eve", "ada"] as const)
    keys[name] = (await runInMemory(["keys", "create", name, "--file", file])).out.trim();
});
afterAll(() => rmSync(folder, { recursive: true }));

async function start(state: object): Promise<GatewayProcess> {
  return startGateway({
    servers: {},
    tier: "lexical",
    nodeOptions: ["--max-old-space-size=256"],
    settings: { server: { auth: { api_keys: { file: join(folder, "keys.json") } } }, state },
  });
}

interface Answer {
  readonly status: number;
  readonly body: { readonly result?: Record<string, never>; readonly error?: { readonly message: string } };
}

async function ask(url: string, who: keyof typeof keys, method: string, params: string): Promise<Answer> {
  const response = await fetch(`${url}/a2a`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${keys[who]}` },
    body: `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`,
  });
  return { status: response.status, body: (await response.json()) as Answer["body"] };
}

let count = 0;
const message = (parts: string, more = ""): string =>
  `{"message":{"messageId":"m${++count}","role":"ROLE_USER","parts":[${parts}]${more}}}`;

const filler = "x".repeat(NEARLY_ALL - 2000);
/** Messages of nearly 4 MiB. A rightless caller may send all of them. */
const SHAPES: readonly (() => readonly [method: string, params: string])[] = [
  () => ["SendMessage", message(`{"data":{"tool":"nothing","arguments":{"x":"${filler}"}}}`)],
  () => ["SendMessage", message(`{"text":"find a tool"},{"raw":"${"QUJD".repeat(NEARLY_ALL / 4 - 1000)}"}`)],
  () => ["SendMessage", message(`{"text":"find a tool"},{"url":"https://example.com/${filler}"}`)],
  () => [
    "SendMessage",
    message(
      Array.from({ length: 200 }, () => `{"data":{"y":"${"z".repeat(Math.floor(NEARLY_ALL / 200) - 60)}"}}`).join(),
    ),
  ],
  () => [
    "tasks/send",
    `{"id":"chosen-${++count}","message":{"role":"user","parts":[{"type":"text","text":"find a tool"},{"type":"data","data":{"x":"${filler}"}}]}}`,
  ],
  () => ["SendMessage", message(`{"text":"find a tool"}`, `,"metadata":{"x":"${filler}"}`)],
];

/** Bytes of memory, and milliseconds of CPU time, that a process uses. */
const residentBytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

describe.each([
  ["memory", { type: "memory" }],
  ["SQLite", { type: "sqlite", file: "./state.sqlite" }],
])("a key without rights, with the state in %s", (_, state) => {
  it(`cannot end the process, fill it, or take others' tasks with ${MESSAGES} messages of nearly 4 MiB`, async () => {
    const gateway = await start(state);
    const { url, pid } = gateway;
    try {
      for (let tasks = 0; tasks < 3; tasks++) await ask(url, "ada", "SendMessage", message('{"text":"find a tool"}'));
      const before = residentBytes(pid);
      const waiting = Array.from({ length: MESSAGES }, (_unused, place) => SHAPES[place % SHAPES.length]);
      const statuses = new Set<number>();
      await Promise.all(
        Array.from({ length: 4 }, async () => {
          for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
            statuses.add((await ask(url, "eve", ...next())).status);
        }),
      );
      expect([...statuses]).toEqual([200]);
      expect(residentBytes(pid) - before).toBeLessThan(MOST_GROWTH);

      const hers = await ask(url, "ada", "ListTasks", "{}");
      expect(hers.body.result).toMatchObject({ totalSize: 3 });
      const his = await ask(url, "eve", "ListTasks", '{"pageSize":100}');
      expect(JSON.stringify(his).length).toBeLessThan(3 * MEBIBYTE);
      expect((await ask(url, "ada", "SendMessage", message('{"text":"find a tool"}'))).status).toBe(200);
    } finally {
      expect(await gateway.close()).toBe(0);
    }
  }, 400_000);
});

describe("250,000 parts", () => {
  it("are refused before anything is made of them", async () => {
    const gateway = await start({ type: "memory" });
    const { url, pid } = gateway;
    try {
      const params = message(Array.from({ length: 250_000 }, () => '{"text":"a"}').join());
      const before = cpuMs(pid);
      for (let sent = 0; sent < 3; sent++) {
        const { body } = await ask(url, "eve", "SendMessage", params);
        expect(body.error?.message).toMatch(/has 250000 entries; the limit is 256|members and elements|members in all/);
      }
      // At a second and more for each, they were converted part by part.
      expect(cpuMs(pid) - before).toBeLessThan(2_000);
      expect((await ask(url, "eve", "ListTasks", "{}")).body.result).toMatchObject({ totalSize: 0 });
    } finally {
      await gateway.close();
    }
  });
});
