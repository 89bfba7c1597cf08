import { afterEach, expect, it, vi } from "vitest";
import { createHttpServer, type HttpServer } from "./http/http-server.ts";
import { lazySurface, type ServedRoutes } from "./lazy-surface.ts";

let server: HttpServer | undefined;
afterEach(() => server?.close());

const routes: ServedRoutes["routes"] = [
  { path: "/one", handle: ({ response }) => void response.end("one") },
  { path: "/more/", template: () => "/more/{name}", handle: ({ response }) => void response.end("more") },
];
const declared = { name: "late", routes: [{ path: "/one" }, { path: "/more/" }] };

it("loads its code with the first request, once", async () => {
  const load = vi.fn(async () => ({ routes }));
  const surface = lazySurface({ ...declared, load });
  server = await createHttpServer({ port: 0, routes: surface.routes });
  const { url } = server;
  expect(load).not.toHaveBeenCalled();
  const texts = await Promise.all(
    ["/one", "/more/2", "/one"].map(async (path) => (await fetch(`${url}${path}`)).text()),
  );
  expect(texts).toEqual(["one", "more", "one"]);
  expect(load).toHaveBeenCalledOnce();
});

it("loads again if loading failed", async () => {
  const load = vi.fn(async () => ({ routes }));
  load.mockRejectedValueOnce(new Error("no file descriptors are left"));
  const surface = lazySurface({ ...declared, load });
  server = await createHttpServer({ port: 0, routes: surface.routes });
  expect((await fetch(`${server.url}/one`)).status).toBe(500);
  expect(await (await fetch(`${server.url}/one`)).text()).toBe("one");
});

it("names a request by its route until the code is loaded, then by its template", async () => {
  const { routes: served } = lazySurface({ ...declared, load: async () => ({ routes }) });
  expect(served[1]?.template?.("GET", "/more/2")).toBe("/more/");
  await served[1]?.handle({ response: { end: () => undefined } } as never);
  expect(served[1]?.template?.("GET", "/more/2")).toBe("/more/{name}");
  expect(served[0]?.template?.("GET", "/one")).toBe("/one");
});

it("closes what it has loaded, and loads nothing to close it", async () => {
  const close = vi.fn(async () => undefined);
  const load = vi.fn(async () => ({ routes, close }));
  await lazySurface({ ...declared, load }).close?.();
  expect(load).not.toHaveBeenCalled();
  const used = lazySurface({ ...declared, load });
  await used.routes[0]?.handle({ response: { end: () => undefined } } as never);
  await used.close?.();
  expect(close).toHaveBeenCalledOnce();
});
