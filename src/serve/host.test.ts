import { describe, expect, it, onTestFinished } from "vitest";
import { servableOf, ToolArsenal } from "../arsenal.ts";
import { bearerToken } from "../adapters/identity/bearer-token.ts";
import { memoryState } from "../adapters/state/memory.ts";
import { createSecrets } from "../guard/secrets/secrets.ts";
import { localOperator } from "../guard/principal.ts";
import { type Host, type HostOptions, openHost } from "./host.ts";
import { checkedPublicUrl } from "./http/allowed-callers.ts";
import { answerJson } from "./http/answer.ts";
import { createReplica } from "./replica.ts";
import { STARTED } from "./startup.ts";
import type { CreateSurface, HttpExchange, SurfaceContext } from "./surface.ts";
import { SURFACES } from "./surfaces.ts";
import { createWork } from "./work.ts";

async function open(surfaces: readonly CreateSurface[], options: Partial<HostOptions> = {}): Promise<Host> {
  const arsenal = new ToolArsenal({ telemetry: { enabled: false } });
  onTestFinished(() => arsenal.close());
  const { redactor } = createSecrets();
  const replica = await createReplica(memoryState());
  const serving = {
    arsenal: servableOf(arsenal),
    mode: "dynamic",
    startup: STARTED,
    work: createWork(),
    redactor,
    replica,
  } as const;
  const host = await openHost(surfaces, serving, { port: 0, drainMs: 60_000, ...options });
  onTestFinished(() => host.close());
  return host;
}

const all = (): Promise<readonly CreateSurface[]> => Promise.all(Object.values(SURFACES).map((load) => load()));

/** A surface that answers one path. */
const answering =
  (handle: (exchange: HttpExchange, context: SurfaceContext) => Promise<void> | void): CreateSurface =>
  (context) => ({
    name: "own",
    routes: [{ path: "/own", drainsItself: true, handle: (exchange) => handle(exchange, context) }],
    addresses: [["/own", "Answers for itself."]],
  });

describe("a host", () => {
  it("mounts every surface of the manifest under its name, and shows the addresses of all of them", async () => {
    let names: readonly string[] = [];
    const own = answering(({ response }, { surfaces }) => {
      names = surfaces().map(({ name }) => name);
      answerJson(response, 200, {});
    });
    const host = await open([...(await all()), own]);
    expect((await fetch(`${host.url}/own`)).status).toBe(200);
    expect(names).toEqual([...Object.keys(SURFACES), "own"]);
    const page = await (await fetch(host.url)).text();
    expect(page).toContain(`${host.url}/own</code></dt><dd>Answers for itself.`);
    expect(page).toContain(`${host.url}/mcp<`);
  });

  it("cannot be below a path that one of its surfaces has, but below paths that only look like one", async () => {
    const paths: string[] = [];
    const own = answering(({ response }, { surfaces }) => {
      for (const { name, routes } of surfaces()) if (name !== "own") paths.push(...routes.map(({ path }) => path));
      answerJson(response, 200, {});
    });
    const host = await open([...(await all()), own]);
    await fetch(`${host.url}/own`);
    expect(paths).toContain("/mcp");
    for (const path of paths.filter((each) => each !== "/")) {
      const below = path.endsWith("/") && path !== "/a2a/" ? [path, `${path}more`] : [path];
      for (const each of below)
        expect(() => checkedPublicUrl(`https://example.com${each}`), each).toThrow(/uses itself/);
    }
    expect(() => checkedPublicUrl("https://example.com/api")).toThrow(/Use another path, such as \/tools/);
    for (const path of ["/tools", "/mcp-gateway", "/api/tools", "/team/mcp"])
      expect(checkedPublicUrl(`https://example.com${path}/`)).toBe(`https://example.com${path}`);
  });

  it("hands a surface requests whose caller is known, and no others", async () => {
    const token = "a-token-of-some-length";
    const identity = bearerToken({ tokens: [{ token, principal: localOperator({ id: "ada", local: false }) }] });
    const own = answering(({ response, principal }) => answerJson(response, 200, { caller: principal.id }));
    const host = await open([own], { identity });
    expect((await fetch(`${host.url}/own`)).status).toBe(401);
    const known = await fetch(`${host.url}/own`, { headers: { authorization: `Bearer ${token}` } });
    expect(await known.json()).toEqual({ caller: "ada" });
  });

  it("reads bodies within limits for its surfaces", async () => {
    const own = answering(async (exchange) => {
      const body = await exchange.json({ maxBytes: 10 });
      if ("refused" in body) return answerJson(exchange.response, body.refused.status, {}, { connection: "close" });
      answerJson(exchange.response, 200, body.value);
    });
    const { url } = await open([own]);
    const post = (body: string): Promise<Response> =>
      fetch(`${url}/own`, { method: "POST", body, headers: { "content-type": "application/json" } });
    expect(await (await post('{"a":1}')).json()).toEqual({ a: 1 });
    expect((await post('{"a":"too long"}')).status).toBe(413);
  });

  it("waits for the work of any surface when it closes, refuses new work, and cuts off what takes too long", async () => {
    const begun = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    const own = answering(async ({ response, url }, { work }) => {
      const { signal } = new AbortController();
      try {
        await work.run(signal, async (cut) => {
          begun.resolve();
          if (url.searchParams.has("stuck"))
            await new Promise((_, reject) => cut.addEventListener("abort", () => reject(cut.reason as Error)));
          await finish.promise;
        });
        answerJson(response, 200, { done: true });
      } catch (error) {
        answerJson(response, 503, { code: (error as { readonly code: string }).code });
      }
    });
    const patient = await open([own]);
    const answer = fetch(`${patient.url}/own`);
    await begun.promise;
    expect(patient.pending).toBe(1);
    const closing = patient.close();
    const late = await fetch(`${patient.url}/own`);
    expect([late.status, await late.json()]).toEqual([503, { code: "CLOSED" }]);
    finish.resolve();
    expect(await (await answer).json()).toEqual({ done: true });
    await closing;
    expect(patient.pending).toBe(0);

    const hasty = await open([own], { drainMs: 0 });
    const stuck = fetch(`${hasty.url}/own?stuck`);
    while (hasty.pending === 0) await new Promise(setImmediate);
    await hasty.close();
    expect(await (await stuck).json()).toEqual({ code: "CLOSED" });
  });

  it("does both for a surface that knows nothing of shutting down", async () => {
    const begun = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    const simple: CreateSurface = () => ({
      name: "simple",
      routes: [
        {
          path: "/simple",
          async handle({ response }) {
            begun.resolve();
            await finish.promise;
            answerJson(response, 200, { done: true });
          },
        },
      ],
    });
    const host = await open([simple]);
    const answer = fetch(`${host.url}/simple`);
    await begun.promise;
    const closing = host.close();
    const late = await fetch(`${host.url}/simple`);
    expect([late.status, Number(late.headers.get("retry-after")) > 1]).toEqual([503, true]);
    expect(late.headers.get("content-type")).toBe("application/problem+json");
    expect(await late.json()).toMatchObject({ status: 503, code: "CLOSED", fix: expect.any(String) as string });
    finish.resolve();
    expect(await (await answer).json()).toEqual({ done: true });
    await closing;
  });

  it("refuses two surfaces at one path, and closes what it made of them", async () => {
    let closed = 0;
    const own: CreateSurface = () => ({
      name: "own",
      routes: [{ path: "/own", handle: () => {} }],
      close: async () => void closed++,
    });
    await expect(open([own, answering(() => {})])).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining('"own" and "own" both declare /own') as string,
    });
    expect(closed).toBe(1);
  });
});
