import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createEgress, type Egress, type EgressRequest } from "./egress.ts";

/** A server that sends `/STATUS` on to `/`, or to the address in `x-to`, and says what arrives there. */
async function redirecting(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const status = Number(request.url?.slice(1));
  const location = String(request.headers["x-to"] ?? "/");
  if (status > 0) return void response.writeHead(status, { location }).end("moved");
  const {
    "content-type": type = "none",
    "content-language": language = "none",
    "x-content-a": own = "none",
  } = request.headers;
  response.end(`${request.method} ${type} ${language} ${own} ${await text(request)}`.trimEnd());
}

const server = createServer((request, response) => void redirecting(request, response));
let egress: Egress;
let origin: string;

beforeEach(async () => {
  egress = createEgress();
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  egress.close();
  server.closeAllConnections();
  await new Promise((closed) => void server.close(closed));
});

const HEADERS = { "Content-Type": "text/plain", "content-language": "en", "x-content-a": "content-a" };

async function follow(status: number, asked: EgressRequest): Promise<string> {
  const answer = await egress.request(`${origin}/${status}`, { headers: HEADERS, allowPrivate: true, ...asked });
  return text(answer.body);
}

describe("a redirect", () => {
  it.each([
    [301, "POST", "GET none none content-a"],
    [302, "POST", "GET none none content-a"],
    [303, "POST", "GET none none content-a"],
    [307, "POST", "POST text/plain en content-a body"],
    [308, "POST", "POST text/plain en content-a body"],
    [301, "PUT", "PUT text/plain en content-a body"],
    [302, "PUT", "PUT text/plain en content-a body"],
    [303, "PUT", "GET none none content-a"],
  ])("with %i makes a %s with a body the request: %s", async (status, method, then) => {
    expect(await follow(status, { method, body: "body" })).toBe(then);
    expect(await follow(status, { method, body: Buffer.from("body") })).toBe(then);
  });

  it("cannot repeat a stream, unless the body is dropped", async () => {
    const asked = (): EgressRequest => ({ method: "POST", body: Readable.from(["body"]) });
    await expect(follow(307, asked())).rejects.toMatchObject({
      code: "TRANSPORT_FAILED",
      message: `The request to ${new URL(origin).host} failed: it redirected a request whose body cannot be sent twice`,
    });
    expect(await follow(303, asked())).toBe("GET none none content-a");
  });

  it("is handed back where none is to be followed", async () => {
    const answer = await egress.request(`${origin}/302`, { allowPrivate: true, maxRedirects: 0 });
    expect([answer.status, answer.headers["location"], answer.url]).toEqual([302, "/", `${origin}/302`]);
    expect(await text(answer.body)).toBe("moved");
  });

  it("is followed as often as the request says", async () => {
    expect(await follow(302, { maxRedirects: 1 })).toContain("GET");
    const twice = { maxRedirects: 1, headers: { "x-to": "/302" } };
    await expect(follow(302, twice)).rejects.toThrow(/redirected more than 1 times/);
  });

  it("is none where the status is another", async () => {
    const answer = await egress.request(`${origin}/304`, { allowPrivate: true });
    expect(answer.status).toBe(304);
    answer.body.resume();
  });

  it("leads on to private addresses of the same origin alone, where others must be public", async () => {
    const away = { headers: { "x-to": origin.replace("127.0.0.1", "127.0.0.2") }, publicRedirects: true };
    await expect(follow(302, away)).rejects.toThrow(/127\.0\.0\.2 is this machine or a private network/);
    expect(await follow(302, { publicRedirects: true })).toContain("GET");
  });

  it("says where the answer came from", async () => {
    const answer = await egress.request(`${origin}/302`, { allowPrivate: true });
    expect(answer.url).toBe(`${origin}/`);
    answer.body.resume();
  });
});
