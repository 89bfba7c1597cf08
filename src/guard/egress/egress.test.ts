import { getEventListeners, once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setImmediate as nextTurn } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { createEgress, type Egress, type EgressParts } from "./egress.ts";
import type { EgressRules } from "./check-url.ts";

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

async function serve(listener: RequestListener, host = "127.0.0.1"): Promise<number> {
  const server: Server = createServer(listener);
  await new Promise<void>((resolve) => void server.listen(0, host, resolve));
  opened.push({
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(resolve));
    },
  });
  return (server.address() as AddressInfo).port;
}

function egress(rules?: EgressRules, parts?: EgressParts): Egress {
  const created = createEgress(rules, parts);
  opened.push(created);
  return created;
}

/** A resolver that knows some names; 127.0.0.2 stands for the public internet. */
const names: EgressParts = {
  isPublic: (address) => address === "127.0.0.2",
  resolve: (host, callback) =>
    callback(null, [{ address: host === "inside.test" ? "127.0.0.1" : "127.0.0.2", family: 4 }]),
};

describe("a request that leaves the program", () => {
  it("brings the answer with its status, headers and decompressed body", async () => {
    const port = await serve((_request, response) => {
      response.writeHead(201, { "content-encoding": "gzip", "x-a": ["1", "2"] }).end(gzipSync("hello"));
    });
    const answer = await egress().request(`http://127.0.0.1:${port}/`, { allowPrivate: true });
    expect(answer.status).toBe(201);
    expect(answer.headers["x-a"]).toBe("1, 2");
    expect(await text(answer.body)).toBe("hello");
  });

  it("sends its method, headers and body", async () => {
    const port = await serve(async (request, response) => {
      response.end(`${request.method} ${request.headers["x-b"]} ${await text(request)}`);
    });
    const send = async (body: string | Readable): Promise<string> => {
      const options = { method: "PUT", headers: { "x-b": "b" }, body, allowPrivate: true };
      return text((await egress().request(`http://127.0.0.1:${port}/`, options)).body);
    };
    expect(await send("words")).toBe("PUT b words");
    expect(await send(Readable.from(["str", "eam"]))).toBe("PUT b stream");
  });

  it("is refused, with no socket opened, where its name resolves to a private address", async () => {
    let connections = 0;
    const port = await serve(() => {});
    const server = await serve((_request, response) => void (connections++, response.end()));
    const request = egress({}, names).request(`http://inside.test:${server}/`);
    await expect(request).rejects.toThrow(/inside\.test.*resolves to 127\.0\.0\.1/);
    expect({ connections, port }).toEqual({ connections: 0, port });
  });

  it("is refused where one of several addresses is private", async () => {
    const both = [
      { address: "127.0.0.2", family: 4 },
      { address: "10.0.0.1", family: 4 },
    ];
    const parts: EgressParts = { ...names, resolve: (_host, callback) => callback(null, both) };
    await expect(egress({}, parts).request("http://mixed.test/")).rejects.toThrow(/resolves to 10\.0\.0\.1/);
  });

  it("connects to the address that was checked, and asks for it once", async () => {
    let asked = 0;
    const port = await serve((request, response) => response.end(request.socket.localAddress), "127.0.0.2");
    const parts: EgressParts = {
      ...names,
      // Who answers differently the second time is not asked a second time.
      resolve: (_host, callback) => callback(null, [{ address: asked++ === 0 ? "127.0.0.2" : "127.0.0.1", family: 4 }]),
    };
    const answer = await egress({}, parts).request(`http://rebind.test:${port}/`);
    expect(await text(answer.body)).toBe("127.0.0.2");
    expect(asked).toBe(1);
  });

  it("follows no redirect from outside to the inside", async () => {
    let reached = 0;
    const inside = await serve((_request, response) => void (reached++, response.end()));
    for (const target of [`http://127.0.0.1:${inside}/`, `http://inside.test:${inside}/`, "file:///etc/passwd"]) {
      const port = await serve(
        (_request, response) => response.writeHead(302, { location: target }).end(),
        "127.0.0.2",
      );
      await expect(egress({}, names).request(`http://out.test:${port}/`)).rejects.toMatchObject({
        code: "PERMISSION_DENIED",
      });
    }
    expect(reached).toBe(0);
  });

  it("drops credentials where a redirect leads to another origin, and keeps them within one", async () => {
    const seen: unknown[] = [];
    const record: RequestListener = ({ headers }, response) => {
      seen.push([headers.authorization, headers.cookie, headers["x-api-key"], headers["x-kept"]]);
      response.end();
    };
    const other = await serve(record);
    const port = await serve((request, response) => {
      if (request.url === "/here") return record(request, response);
      const location = request.url === "/away" ? `http://127.0.0.1:${other}/` : "/here";
      response.writeHead(307, { location }).end();
    });
    const headers = { Authorization: "Bearer t", Cookie: "c=1", "X-Api-Key": "k", "x-kept": "yes" };
    const request = { headers, secretHeaders: ["x-api-key"], allowPrivate: true };
    for (const path of ["away", "stay"])
      (await egress().request(`http://127.0.0.1:${port}/${path}`, request)).body.resume();
    expect(seen).toEqual([
      [undefined, undefined, undefined, "yes"],
      ["Bearer t", "c=1", "k", "yes"],
    ]);
  });

  it("repeats its body on 307, and becomes a GET without one on 303", async () => {
    const port = await serve(async (request, response) => {
      const status = Number(request.url?.slice(1));
      if (status > 0) return void response.writeHead(status, { location: "/" }).end();
      response.end(`${request.method} ${await text(request)}`);
    });
    const follow = async (status: number): Promise<string> => {
      const options = { method: "POST", body: "x", allowPrivate: true };
      return text((await egress().request(`http://127.0.0.1:${port}/${status}`, options)).body);
    };
    expect(await follow(307)).toBe("POST x");
    expect(await follow(303)).toBe("GET ");
    expect(await follow(302)).toBe("GET ");
  });

  it("gives up after five redirects", async () => {
    let count = 0;
    const port = await serve((_request, response) => void (count++, response.writeHead(302, { location: "/" }).end()));
    await expect(egress().request(`http://127.0.0.1:${port}/`, { allowPrivate: true })).rejects.toThrow(
      /more than 5 times/,
    );
    expect(count).toBe(6);
  });

  it("fails where the answer is longer than allowed, also once it is decompressed", async () => {
    const port = await serve((_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(1_000_000)));
    });
    const answer = await egress().request(`http://127.0.0.1:${port}/`, { allowPrivate: true, maxBytes: 100_000 });
    await expect(text(answer.body)).rejects.toThrow(/longer than 100000 bytes/);
  });

  it("brings an answer that announces its length as it is, and none that announces or has too much", async () => {
    const port = await serve((request, response) => {
      const body = "x".repeat(Number(request.headers["x-length"]));
      if (request.headers["x-announced"] === "yes") response.setHeader("content-length", body.length);
      else response.flushHeaders();
      response.end(body);
    });
    const read = async (length: number, announced: string, maxBytes: number): Promise<number> => {
      const headers = { "x-length": String(length), "x-announced": announced };
      const answer = await egress().request(`http://127.0.0.1:${port}/`, { allowPrivate: true, headers, maxBytes });
      return (await text(answer.body)).length;
    };
    for (const announced of ["yes", "no"]) {
      expect(await read(100, announced, 100)).toBe(100);
      await expect(read(101, announced, 100)).rejects.toThrow(/longer than 100 bytes/);
      expect(await read(20_000_000, announced, Number.POSITIVE_INFINITY)).toBe(20_000_000);
    }
  });

  it("joins several cookies as it joins other headers", async () => {
    const port = await serve((_request, response) => response.writeHead(200, { "set-cookie": ["a=1", "b=2"] }).end());
    const answer = await egress().request(`http://127.0.0.1:${port}/`, { allowPrivate: true });
    expect(answer.headers["set-cookie"]).toBe("a=1, b=2");
  });

  it("goes nowhere but to the allowed domains, its own and the program's [000-6.2-domains]", async () => {
    const out = egress({ allowedDomains: ["a.test", "b.test"] }, names);
    await expect(out.request("http://c.test/")).rejects.toThrow(/not among the allowed domains/);
    await expect(out.request("http://b.test/", { allowedDomains: ["a.test", "c.test"] })).rejects.toThrow(/b\.test/);
    await expect(out.request("http://c.test/", { allowedDomains: ["c.test"] })).rejects.toThrow(/c\.test/);
  });

  it("is cancelled by its signal, and says that nothing was sent where nobody listens", async () => {
    const controller = new AbortController();
    const port = await serve(() => controller.abort());
    const { signal } = controller;
    const cancelled = egress().request(`http://127.0.0.1:${port}/`, { allowPrivate: true, signal });
    await expect(cancelled).rejects.toMatchObject({ code: "CANCELLED" });
    const late = egress().request(`http://127.0.0.1:${port}/`, { allowPrivate: true, signal });
    await expect(late).rejects.toMatchObject({ code: "CANCELLED" });
    const closed = await serve(() => {});
    await opened.pop()?.close();
    await expect(egress().request(`http://127.0.0.1:${closed}/`, { allowPrivate: true })).rejects.toMatchObject({
      code: "TRANSPORT_FAILED",
      details: { beforeSend: true },
    });
  });
});

describe("a request that is over", () => {
  it("has left nothing on its signal", async () => {
    const port = await serve((_request, response) => void response.end("hello"));
    const { signal } = new AbortController();
    const answer = await egress().request(`http://127.0.0.1:${port}/`, { allowPrivate: true, signal });
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    await text(answer.body);
    await nextTurn();
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("leaves its connection for the next to the same server, until the way out is closed", async () => {
    const sockets: Socket[] = [];
    const port = await serve(({ socket }, response) => void (sockets.push(socket), response.end()));
    const out = egress();
    const ask = async (): Promise<void> => {
      await text((await out.request(`http://127.0.0.1:${port}/`, { allowPrivate: true })).body);
      await nextTurn();
    };
    await ask();
    await ask();
    const [first, second] = sockets;
    expect([first?.destroyed, first === second]).toEqual([false, true]);
    const closed = once(first as Socket, "close");
    out.close();
    await closed;
  });

  it("leaves no connection to a private address for one that may not reach it", async () => {
    const port = await serve((_request, response) => void response.end());
    const out = egress({}, names);
    const url = `http://inside.test:${port}/`;
    await text((await out.request(url, { allowPrivate: true })).body);
    await nextTurn();
    await expect(out.request(url)).rejects.toThrow(/resolves to 127\.0\.0\.1/);
  });

  it("has failed where the stream of its body did", async () => {
    const port = await serve((request) => void request.resume());
    const body = Readable.from(
      (async function* () {
        yield "some";
        throw new Error("the file is gone");
      })(),
    );
    await expect(
      egress().request(`http://127.0.0.1:${port}/`, { method: "POST", body, allowPrivate: true }),
    ).rejects.toThrow(/failed: the file is gone$/);
  });
});

describe("a request to an address that the operator wrote", () => {
  it("may be private and need not be listed, and neither holds for another origin that it leads to", async () => {
    const seen: unknown[] = [];
    const other = await serve((_request, response) => void (seen.push("other"), response.end()));
    const port = await serve((request, response) => {
      seen.push(request.url);
      const location =
        request.url === "/away" ? `http://127.0.0.1:${other}/` : request.url === "/on" ? "/here" : undefined;
      response.writeHead(location === undefined ? 200 : 307, location === undefined ? {} : { location }).end();
    });
    const out = egress({ allowedDomains: ["example.com"] });
    const url = `http://127.0.0.1:${port}`;
    (await out.request(`${url}/on`, { trusted: true })).body.resume();
    await expect(out.request(`${url}/away`, { trusted: true })).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    await expect(out.request(`${url}/no`, { allowPrivate: true })).rejects.toThrow(/not among the allowed domains/);
    await expect(out.request(`${url}/no`, { trusted: true, allowedDomains: ["a.test"] })).rejects.toThrow(/not among/);
    expect(seen).toEqual(["/on", "/here", "/away"]);
  });

  it("leads to another origin that is listed and public", async () => {
    const other = await serve((_request, response) => void response.end("there"), "127.0.0.2");
    const port = await serve((_request, response) => {
      response.writeHead(302, { location: `http://out.test:${other}/` }).end();
    });
    const out = egress({ allowedDomains: ["out.test"] }, names);
    const answer = await out.request(`http://127.0.0.1:${port}/`, { trusted: true });
    expect(await text(answer.body)).toBe("there");
    const elsewhere = egress({ allowedDomains: ["else.test"] }, names);
    await expect(elsewhere.request(`http://127.0.0.1:${port}/`, { trusted: true })).rejects.toThrow(
      /out\.test is not among/,
    );
  });

  it("fails where it leads to an invalid address", async () => {
    const port = await serve((_request, response) => response.writeHead(302, { location: "http://[" }).end());
    await expect(egress().request(`http://127.0.0.1:${port}/`, { trusted: true })).rejects.toMatchObject({
      code: "TRANSPORT_FAILED",
      message: expect.stringContaining("an invalid address"),
    });
  });
});
