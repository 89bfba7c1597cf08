import { once } from "node:events";
import { describe, expect, it } from "vitest";
import {
  ANSWER,
  answerJson,
  open,
  request,
  scripted,
  stream,
  type Opened,
} from "../../../../../test/mcp/scripted-server.ts";

describe("an answer", () => {
  it.each(["JSON", "a stream"])("is handed on in its own words, as %s", async (kind) => {
    const { url, next } = await scripted();
    const { transport, message } = await open(url);
    const sent = transport.send(request("tools/call"));
    const received = await next();
    if (kind === "JSON") answerJson(received, ANSWER);
    else stream(received).end(`event: message\ndata: ${ANSWER}\n\n`);
    await sent;
    expect(JSON.stringify((await message()).message)).toBe(ANSWER);
  });

  it("may be several messages", async () => {
    const { url, next } = await scripted();
    const { transport, message } = await open(url);
    const sent = transport.send(request("tools/call"));
    answerJson(await next(), `[{"jsonrpc":"2.0","method":"notifications/message"},${ANSWER}]`);
    await sent;
    expect(await message()).toEqual({ message: { jsonrpc: "2.0", method: "notifications/message" }, about: "t1" });
    expect((await message()).message).toMatchObject({ id: "t1" });
  });

  it.each([
    ["application/json", "{", SyntaxError],
    ["application/json", '{"result":{}}', SyntaxError],
    ["text/html", "<p>", { code: "CLIENT_HTTP_UNEXPECTED_CONTENT" }],
  ])("that is no JSON-RPC fails the request: %s %s", async (type, body, failure) => {
    const { url, next } = await scripted();
    const { transport } = await open(url);
    const sent = transport.send(request("tools/call"));
    const { response } = await next();
    response.writeHead(200, { "content-type": type }).end(body);
    const error = await sent.catch((reason: unknown) => reason);
    if (typeof failure === "function") expect(error).toBeInstanceOf(failure);
    else expect(error).toMatchObject(failure);
  });

  it("that refuses the request comes with its status and text", async () => {
    const { url, next } = await scripted();
    const { transport } = await open(url);
    const sent = transport.send(request("tools/call"));
    (await next()).response.writeHead(404).end("who?");
    await expect(sent).rejects.toMatchObject({ status: 404, data: { text: "who?" } });
  });

  it("ends a request that it does not answer", async () => {
    const { url, next } = await scripted();
    const { transport, lost } = await open(url);
    const ended = Promise.withResolvers<void>();
    const sent = transport.send(request("tools/call"), { onRequestStreamEnd: () => ended.resolve() });
    answerJson(await next(), '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"?"}}');
    await Promise.all([sent, ended.promise]);
    expect(lost).toEqual([]);
  });
});

describe("what goes with a message", () => {
  it("is the session that initialize was answered with, and the revision", async () => {
    const { url, next } = await scripted();
    const { transport } = await open(url, { headers: { "X-Team": "blue" } });
    const opened = transport.send(request("initialize", 0));
    const first = await next();
    answerJson(first, '{"jsonrpc":"2.0","id":0,"result":{}}', { "mcp-session-id": "s1" });
    await opened;
    transport.setProtocolVersion?.("2025-11-25");
    const sent = transport.send(request("tools/list"));
    const second = await next();
    answerJson(second, ANSWER, { "mcp-session-id": "another" });
    await sent;

    expect(first.headers["mcp-session-id"]).toBeUndefined();
    expect(first.headers["mcp-protocol-version"]).toBeUndefined();
    for (const { method, headers } of [first, second]) {
      expect(method).toBe("POST");
      expect(headers).toMatchObject({
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "x-team": "blue",
      });
    }
    expect(second.headers).toMatchObject({ "mcp-session-id": "s1", "mcp-protocol-version": "2025-11-25" });
    expect(transport.sessionId).toBe("s1");
  });

  it("is what the message says of itself, and what it is sent with", async () => {
    const { url, next } = await scripted();
    const { transport } = await open(url);
    const _meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
    const message = request("tools/call", "t1", { name: "add", _meta });
    const sent = transport.send(message, { headers: { "Mcp-Param-Region": "eu" } });
    const received = await next();
    answerJson(received, ANSWER);
    await sent;
    expect(received.headers).toMatchObject({
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "add",
      "mcp-param-region": "eu",
    });
    expect(received.body).toBe(JSON.stringify(message));
  });

  it("goes where the server redirects, but into no private network beside its own", async () => {
    const [here, there] = [await scripted(), await scripted()];
    const { transport, message } = await open(here.url, { headers: { "x-key": "secret" } });
    const sent = transport.send(request("tools/call"));
    (await here.next()).response.writeHead(307, { location: `${here.url}/` }).end();
    const second = await here.next();
    expect([second.url, second.headers["x-key"], second.method]).toEqual(["/mcp/", "secret", "POST"]);
    answerJson(second, ANSWER);
    await sent;
    expect((await message()).message).toMatchObject({ id: "t1" });

    const elsewhere = transport.send(request("tools/call"));
    (await here.next()).response.writeHead(307, { location: there.url }).end();
    await expect(elsewhere).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  });
});

it("has as many requests under way as are sent", async () => {
  const { url, next } = await scripted();
  const { transport, message } = await open(url);
  const ids = Array.from({ length: 64 }, (_, index) => `t${index}`);
  const sent = Promise.all(ids.map((id) => transport.send(request("tools/call", id))));
  const received = [];
  for (const _ of ids) received.push(await next());
  for (const each of received.toReversed()) {
    const { id } = JSON.parse(each.body) as { id: string };
    answerJson(each, `{"jsonrpc":"2.0","id":"${id}","result":{}}`);
  }
  await sent;
  const answered = [];
  for (const _ of ids) answered.push((await message()).about);
  expect(answered.toSorted()).toEqual(ids.toSorted());
});

describe("a request's stream", () => {
  it("brings messages with the request that they are about", async () => {
    const { url, next } = await scripted();
    const { transport, message, errors } = await open(url);
    const sent = transport.send(request("tools/call"));
    const events = stream(await next());
    await sent;
    events.write('data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n');
    expect(await message()).toEqual({ message: { jsonrpc: "2.0", method: "notifications/message" }, about: "t1" });
    events.end(`data: Good morning!\n\ndata: ${ANSWER}\n\n`);
    expect(await message()).toMatchObject({ message: { id: "t1" }, about: "t1" });
    expect(errors.map(({ message: said }) => said)).toEqual([expect.stringContaining("Good morning!")]);
  });

  it("that breaks off after an event is resumed from there when the server wants it", async () => {
    const { url, next } = await scripted();
    const { transport, clock, message } = await open(url);
    const sent = transport.send(request("tools/call"));
    stream(await next()).end("id: e1\nretry: 750\ndata: \n\n");
    await sent;
    const timer = await clock.next();
    expect(timer.ms).toBe(750);
    timer.run();
    const resumed = await next();
    expect([resumed.method, resumed.headers["last-event-id"]]).toEqual(["GET", "e1"]);
    expect(resumed.headers.accept).toBe("text/event-stream");
    stream(resumed).end(`id: e2\ndata: ${ANSWER}\n\n`);
    expect(await message()).toMatchObject({ message: { id: "t1" }, about: "t1" });

    const another = transport.send(request("tools/call"));
    answerJson(await next(), ANSWER);
    await another;
    expect(clock.pending, "an answered request's stream is not resumed").toBe(0);
  });

  it("is over after three tries, or where the server resumes nothing", async () => {
    for (const statuses of [[500, 500, 500], [405]]) {
      const { url, next } = await scripted();
      const { transport, clock, lost } = await open(url);
      const ended = Promise.withResolvers<void>();
      const sent = transport.send(request("tools/call"), { onRequestStreamEnd: () => ended.resolve() });
      stream(await next()).end("id: e1\ndata: \n\n");
      await sent;
      const waits = [];
      for (const status of statuses) {
        const timer = await clock.next();
        waits.push(timer.ms);
        timer.run();
        (await next()).response.writeHead(status).end();
      }
      await ended.promise;
      expect(waits).toEqual([500, 1000, 2000].slice(0, statuses.length));
      expect(lost).toEqual([]);
    }
  });

  it("that breaks off before an event is over", async () => {
    const { url, next } = await scripted();
    const { transport, clock } = await open(url);
    const ended = Promise.withResolvers<void>();
    const sent = transport.send(request("tools/call"), { onRequestStreamEnd: () => ended.resolve() });
    const events = stream(await next());
    await sent;
    events.destroy();
    await ended.promise;
    expect(clock.pending, "a stream without an event's id is not resumed").toBe(0);
  });

  it.each(["before", "after"])("is left when its signal fires, %s it is opened", async (when) => {
    const { url, next } = await scripted();
    const { transport, errors } = await open(url);
    const controller = new AbortController();
    const sent = transport.send(request("tools/call"), {
      requestSignal: controller.signal,
      onRequestStreamEnd: () => expect.unreachable("The stream did not end by itself."),
    });
    const received = await next();
    if (when === "after") {
      stream(received).write("id: e1\ndata: \n\n");
      await sent;
    }
    const left = once(received.response, "close");
    controller.abort();
    if (when === "before") await expect(sent).rejects.toMatchObject({ code: "CANCELLED" });
    await left;
    expect(errors).toEqual([]);
  });
});

describe("the server's own stream", () => {
  async function initialized(): Promise<Opened & Awaited<ReturnType<typeof scripted>>> {
    const server = await scripted();
    const opened = await open(server.url);
    const sent = opened.transport.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    (await server.next()).response.writeHead(202).end();
    await sent;
    return { ...opened, ...server };
  }

  it("is opened after the handshake, and opened again when it breaks", async () => {
    const { next, message, clock } = await initialized();
    const first = await next();
    expect([first.method, first.headers["last-event-id"]]).toEqual(["GET", undefined]);
    stream(first).end('id: e1\ndata: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n');
    expect(await message()).toMatchObject({ about: undefined });
    (await clock.next()).run();
    const second = await next();
    expect(second.headers["last-event-id"]).toBe("e1");
    stream(second).write('data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n');
    await message();
  });

  it("is lost after three tries", async () => {
    const { next, clock, lost } = await initialized();
    stream(await next()).end();
    for (const wait of [500, 1000, 2000]) {
      const timer = await clock.next();
      expect(timer.ms).toBe(wait);
      timer.run();
      (await next()).response.writeHead(404).end();
    }
    await expect
      .poll(() => lost.map(({ message }) => message))
      .toEqual(["its stream broke and could not be opened again in 3 tries"]);
  });

  it("need not be there", async () => {
    const { next, errors, transport } = await initialized();
    (await next()).response.writeHead(405).end();
    const sent = transport.send(request("tools/list"));
    answerJson(await next(), ANSWER);
    await sent;
    expect(errors).toEqual([]);
  });
});

describe("closing", () => {
  it("ends whatever is under way", async () => {
    const { url, next } = await scripted();
    const { transport, errors } = await open(url);
    const waiting = transport.send(request("tools/call", "t1"));
    const first = await next();
    const streaming = transport.send(request("tools/call", "t2"), {
      onRequestStreamEnd: () => expect.unreachable("The stream did not end by itself."),
    });
    const second = await next();
    stream(second);
    await streaming;
    const left = Promise.all([once(first.response, "close"), once(second.response, "close")]);
    await transport.close();
    await expect(waiting).rejects.toThrow("socket hang up");
    await left;
    expect(errors).toEqual([]);
  });

  it("ends the session before", async () => {
    const { url, next } = await scripted();
    const { transport } = await open(url);
    await transport.endSession();
    const opened = transport.send(request("initialize", 0));
    answerJson(await next(), '{"jsonrpc":"2.0","id":0,"result":{}}', { "mcp-session-id": "s1" });
    await opened;
    const ending = transport.endSession();
    const { method, headers, response } = await next();
    expect([method, headers["mcp-session-id"]]).toEqual(["DELETE", "s1"]);
    response.writeHead(200).end();
    await ending;
  });
});
