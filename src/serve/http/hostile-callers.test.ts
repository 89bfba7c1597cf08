import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { answerJson, refuse } from "./answer.ts";
import { createHttpServer, type HttpServer } from "./http-server.ts";
import type { Route } from "../surface.ts";
import { type CheckedJson, type ReadLimits, readJson } from "./read-json.ts";

/** Gives back the JSON it was sent. */
function echo(limits: ReadLimits): Route {
  return {
    path: "/echo",
    async handle({ request, response }) {
      const read = await readJson(request, limits);
      if ("refused" in read) refuse(response, read.refused);
      else answerJson(response, 200, read.value);
    },
  };
}

/** Goes on talking to a caller that has gone. */
const babble: Route = {
  path: "/babble",
  async handle({ response }) {
    response.writeHead(200).write("first");
    await once(response, "close");
    response.write("second");
    response.end("third");
  },
};

/** Tells what became of the one request that it gets. */
const heard = { started: Promise.withResolvers<void>(), read: Promise.withResolvers<CheckedJson>() };
const listener: Route = {
  path: "/listen",
  async handle({ request }) {
    heard.started.resolve();
    heard.read.resolve(await readJson(request));
  },
};

let server: HttpServer;
/** Has no patience. */
let hasty: HttpServer;
const failures: unknown[] = [];
const onError = (error: unknown): void => void failures.push(error);

beforeAll(async () => {
  server = await createHttpServer({ port: 0, routes: [echo({ maxBytes: 100_000 }), babble, listener], onError });
  const timeouts = { headersMs: 200, requestMs: 60_000 };
  hasty = await createHttpServer({ port: 0, routes: [echo({ timeoutMs: 200 })], timeouts, onError });
});

afterAll(() => Promise.all([server.close(), hasty.close()]));

afterEach(async () => {
  for (const { url } of [server, hasty]) {
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${url}/echo`, { method: "POST", headers, body: '{"still":"serving"}' });
    expect(await response.json()).toEqual({ still: "serving" });
  }
  expect(failures).toEqual([]);
});

function open({ url }: HttpServer): Socket {
  // A server that refuses may reset the connection; what it said before that is what counts.
  return connect(Number(new URL(url).port), "127.0.0.1").on("error", () => {});
}

/** What is said on a connection until the server closes it. */
async function saidOn(socket: Socket): Promise<string> {
  const said: Buffer[] = [];
  socket.on("data", (chunk) => said.push(chunk));
  await new Promise((resolve) => socket.on("close", resolve));
  return Buffer.concat(said).toString("utf8");
}

/** What the server says to these bytes. */
function converse(...pieces: readonly (string | Buffer)[]): Promise<string> {
  const socket = open(server);
  for (const piece of pieces) socket.write(piece);
  return saidOn(socket);
}

function post(body: string | Buffer, headers = "Content-Type: application/json\r\n"): Promise<string> {
  const length = Buffer.byteLength(body);
  return converse(
    `POST /echo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${headers}Content-Length: ${length}\r\n\r\n`,
    body,
  );
}

function get(headers: string, target = "/echo"): Promise<string> {
  return converse(`GET ${target} HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`);
}

function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (?<status>\d{3}) /.exec(answer)?.groups?.["status"]);
}

/** A caller that is still sending when it is cut off may not get to read why. */
function unlessReset(status: number): readonly number[] {
  return [status, Number.NaN];
}

function bodyOf(answer: string): unknown {
  return JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4)) as unknown;
}

/** Status, code and message of a refusal. */
function refusalIn(answer: string): readonly unknown[] {
  const { error } = bodyOf(answer) as { error: { code: number; message: string } };
  return [statusOf(answer), error.code, error.message];
}

describe("a caller whose headers are wrong", () => {
  it("is refused without a Host", async () => {
    expect(refusalIn(await get(""))).toEqual([400, -32_600, "The request has no Host header."]);
    expect(statusOf(await converse("GET /echo HTTP/1.0\r\n\r\n"))).toBe(400);
  });

  it("is refused with a foreign Host, an own one beside it or not", async () => {
    expect(statusOf(await get("Host: evil.example\r\n"))).toBe(403);
    expect(statusOf(await get("Host: localhost\r\nHost: evil.example\r\n"))).toBe(403);
    expect(statusOf(await get("Host: evil.example\r\nHost: localhost\r\n"))).toBe(403);
  });

  it("is refused with a foreign Origin, null, or two", async () => {
    const local = "Host: localhost\r\nOrigin: http://localhost\r\n";
    expect(statusOf(await get(local))).toBe(415);
    for (const origin of ["http://evil.example", "null", "http://localhost.evil.example"])
      expect(statusOf(await get(`Host: localhost\r\nOrigin: ${origin}\r\n`))).toBe(403);
    expect(statusOf(await get(`${local}Origin: http://evil.example\r\n`))).toBe(403);
  });

  it("cannot hide a foreign Origin behind thousands of headers", async () => {
    const many = "a:\r\n".repeat(3000);
    expect(statusOf(await get(`Host: localhost\r\n${many}Origin: http://evil.example\r\n`))).toBe(403);
  });

  it("is refused with more headers than a request needs", async () => {
    expect(statusOf(await get(`Host: localhost\r\nX: ${"x".repeat(17_000)}\r\n`))).toBe(431);
    expect(statusOf(await get(`Host: localhost\r\n${`X: ${"y".repeat(50)}\r\n`.repeat(400)}`))).toBe(431);
  });

  it("is refused with a target that is no path", async () => {
    expect(statusOf(await get("Host: localhost\r\n", "http://evil.example/echo"))).toBe(400);
    expect(statusOf(await converse("OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))).toBe(400);
  });

  it("is refused with what is no HTTP", async () => {
    expect(statusOf(await converse("hello\r\n\r\n"))).toBe(400);
    expect(statusOf(await converse(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00])))).toBe(400);
  });

  it("is refused with two lengths, which a proxy may read otherwise", async () => {
    const both = "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n";
    const head = "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    expect(statusOf(await converse(`${head}${both}\r\n0\r\n\r\n`))).toBe(400);
    expect(statusOf(await converse(`${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`))).toBe(400);
  });

  it("gets no tunnel", async () => {
    expect(await converse("CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n")).toBe("");
  });

  it("gets no upgrade", async () => {
    const headers = "Host: localhost\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n";
    expect(statusOf(await converse(`GET /echo HTTP/1.1\r\n${headers}Connection: upgrade, close\r\n\r\n`))).toBe(415);
  });
});

describe("a caller that is slow", () => {
  const head = "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";

  it("with its headers is cut off", async () => {
    const socket = open(hasty);
    socket.write(`${head}X-Slow`);
    expect(statusOf(await saidOn(socket))).toBe(408);
  });

  it("and drips its headers is cut off as well", async () => {
    const socket = open(hasty);
    socket.write(head);
    const drip = setInterval(() => socket.write("X: y\r\n"), 5);
    const said = await saidOn(socket);
    clearInterval(drip);
    expect(unlessReset(408)).toContain(statusOf(said));
  });

  it("to say anything at all is cut off", async () => {
    expect(statusOf(await saidOn(open(hasty)))).toBe(408);
  });

  it.each([`Content-Length: 10\r\n\r\n{"a"`, "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"])(
    "with its body is told so and cut off: %j",
    async (start) => {
      const socket = open(hasty);
      socket.write(head + start);
      const message = "The body did not arrive within 0.2 s.";
      expect(refusalIn(await saidOn(socket))).toEqual([408, -32_600, message]);
    },
  );

  it("or gone before its body is complete does no harm, and is not waited for", async () => {
    const socket = open(server);
    socket.write(`${head.replace("/echo", "/listen")}Content-Length: 9\r\n\r\n{`);
    await heard.started.promise;
    socket.destroy();
    expect(await heard.read.promise).toEqual({
      refused: {
        status: 400,
        code: -32_600,
        message: "The connection was closed before the body was complete.",
      },
    });
  });

  it("or gone before its answer is complete does no harm", async () => {
    const socket = open(server);
    socket.write("GET /babble HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await once(socket, "data");
    socket.resetAndDestroy();
    await once(socket, "close");
    expect(statusOf(await converse("GET /nowhere HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))).toBe(404);
  });
});

describe("a body", () => {
  it("comes back as it was sent, in one piece or many", async () => {
    const head =
      "POST /echo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json; charset=UTF-8\r\n";
    const euro = Buffer.from('{"price":"5 €"}');
    expect(bodyOf(await converse(`${head}Content-Length: ${euro.length}\r\n\r\n`, euro))).toEqual({ price: "5 €" });
    const [first, second] = [euro.subarray(0, 13), euro.subarray(13)];
    const pieces = [`${head}Transfer-Encoding: chunked\r\n\r\nd\r\n`, first, "\r\n4\r\n", second, "\r\n0\r\n\r\n"];
    expect(bodyOf(await converse(...pieces))).toEqual({ price: "5 €" });
  });

  it("may be a batch as far as JSON is concerned", async () => {
    expect(bodyOf(await post('[{"id":1},{"id":2}]'))).toEqual([{ id: 1 }, { id: 2 }]);
  });

  it("may be as large as the limit", async () => {
    expect(statusOf(await post(JSON.stringify("x".repeat(99_998))))).toBe(200);
  });

  it.each([100_001, 5_000_000_000])("that says it has %i bytes is refused before it is sent", async (bytes) => {
    const head = "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    const message = "The body is larger than 100000 bytes.";
    expect(refusalIn(await converse(`${head}Content-Length: ${bytes}\r\n\r\n`))).toEqual([413, -32_600, message]);
  });

  it("that does not say how large it is is refused once it is, and its rest not read", async () => {
    const head = "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    const chunk = `2710\r\n${"x".repeat(10_000)}\r\n`;
    const said = await converse(`${head}Transfer-Encoding: chunked\r\n\r\n`, ...Array<string>(11).fill(chunk));
    expect(unlessReset(413)).toContain(statusOf(said));
  });

  it.each([
    ["text/plain", "Content-Type: text/plain\r\n"],
    ["nothing", ""],
    ["a form", "Content-Type: application/x-www-form-urlencoded\r\n"],
    ["a lookalike", "Content-Type: application/jsonp\r\n"],
    ["two types", "Content-Type: application/json\r\nContent-Type: text/plain\r\n"],
    ["another charset", "Content-Type: application/json; charset=utf-16\r\n"],
    ["compressed", "Content-Type: application/json\r\nContent-Encoding: gzip\r\n"],
  ])("declared as %s is refused", async (_what, headers) => {
    expect(statusOf(await post("{}", headers))).toBe(415);
  });

  it.each([
    "application/json",
    "Application/JSON",
    "application/json;charset=utf-8",
    'application/json; charset="UTF-8"',
  ])("declared as %s is taken", async (type) =>
    expect(bodyOf(await post("{}", `Content-Type: ${type}\r\n`))).toEqual({}),
  );

  it.each([
    ["a byte that never occurs", Buffer.from([0x22, 0xff, 0x22])],
    ["a character cut short", Buffer.from([0x22, 0xe2, 0x82, 0x22])],
    ["a quote written too long", Buffer.from([0x22, 0xc0, 0xa2, 0x22])],
    ["a surrogate in bytes", Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ])("with %s is no UTF-8", async (_what, body) => {
    expect(refusalIn(await post(body))).toEqual([400, -32_700, "The body is not valid UTF-8."]);
  });

  it.each([
    ["", -32_700],
    ["{", -32_700],
    ['{"a":1,"\\u0061":2}', -32_600],
    ['{"a":{"__proto__":{"admin":true}}}', -32_600],
    ['{"constructor":{"prototype":{}}}', -32_600],
    ["[".repeat(50_000), -32_600],
  ])("%.40j is refused with %i", async (body, code) => {
    const answer = await post(body);
    expect(refusalIn(answer).slice(0, 2)).toEqual([400, code]);
    expect(({} as Record<string, unknown>)["admin"]).toBe(undefined);
  });
});

describe("requests on one connection", () => {
  it("sent without waiting are answered in their order, good and bad", async () => {
    const one = (body: string, last = false): string =>
      `POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${last ? "Connection: close\r\n" : ""}Content-Length: ${body.length}\r\n\r\n${body}`;
    const answer = await converse(one('"first"') + one('{"a":1,"a":2}') + one('"third"', true));
    const parts = answer.split(/(?=HTTP\/1\.1 )/);
    expect(parts.map(statusOf)).toEqual([200, 400, 200]);
    expect([bodyOf(parts[0] ?? ""), bodyOf(parts[2] ?? "")]).toEqual(["first", "third"]);
  });

  it("are each checked for their Host", async () => {
    const answer = await converse(
      "GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\nGET /nothing HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
    );
    expect(answer.split(/(?=HTTP\/1\.1 )/).map(statusOf)).toEqual([404, 403]);
  });
});
