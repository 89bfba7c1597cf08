import assert from "node:assert/strict";
import { request } from "node:http";
import type { Identity } from "../../src/guard/identity.port.ts";
import { memoryState } from "../../src/adapters/state/memory.ts";
import { createReplica } from "../../src/serve/replica.ts";
import { createSecrets } from "../../src/guard/secrets/secrets.ts";
import { type Host, openHost } from "../../src/serve/host.ts";
import type { ServableArsenal } from "../../src/serve/served-arsenal.ts";
import { STARTED } from "../../src/serve/startup.ts";
import type { CreateSurface, Surface } from "../../src/serve/surface.ts";
import { createWork } from "../../src/serve/work.ts";
import { contract, type ContractCase, type Make } from "../../src/testing/contract.ts";

/** What a surface under test is mounted over, and what makes it. */
export interface MountableSurface {
  readonly create: CreateSurface;
  readonly arsenal: ServableArsenal;
}

const NOBODY: Identity = { name: "nobody", challenge: "Bearer", authenticate: async () => undefined };

/** Headers under which a route would stream, if it streams at all. */
const STREAMING = { accept: "application/json, text/event-stream" };

/** What every surface must do, whatever it answers. Each case mounts it on a real host. */
export function surfaceContract(make: Make<MountableSurface>): readonly ContractCase[] {
  return contract(make, {
    "declares a name, and paths that are its own": async (mountable) => {
      const { surface, host } = await mount(mountable);
      await host.close();
      assert.match(surface.name, /^[a-z][a-z0-9-]*$/);
      const paths = surface.routes.map(({ path }) => path);
      assert.ok(paths.length > 0, "It has no route.");
      assert.equal(new Set(paths).size, paths.length);
      for (const path of paths) assert.ok(path.startsWith("/"), `${path} does not begin with a slash.`);
    },
    "names only addresses that it answers at": async (mountable) => {
      const { surface, host } = await mount(mountable);
      await host.close();
      const owns = (address: string): boolean =>
        surface.routes.some(({ path }) => address === path || (path.endsWith("/") && address.startsWith(path)));
      for (const [address] of surface.addresses ?? []) assert.ok(owns(address), `${address} is not one of its paths.`);
    },
    "is reached without identity only where a route is open": async (mountable) => {
      const { surface, host } = await mount(mountable, NOBODY);
      for (const { path, open = false } of surface.routes) {
        const { status } = await ask(host, path, { method: "PATCH" });
        assert.equal(status === 401, !open, `${path} answered ${status} to somebody unknown.`);
      }
      await host.close();
    },
    "answers what makes no sense with a client error": async (mountable) => {
      const { surface, host } = await mount(mountable);
      const senseless = [
        { method: "PATCH", body: "" },
        { method: "POST", body: "{ this is no JSON" },
        { method: "POST", body: "[[[[null]]]]" },
      ];
      for (const { path } of surface.routes)
        for (const { method, body } of senseless) {
          const { status } = await ask(host, path, { method, body });
          assert.ok(status >= 400 && status < 500, `${method} ${path} with ${body} answered ${status}.`);
        }
      await host.close();
    },
    "lets the host close while callers hold its routes open": async (mountable) => {
      const { surface, host } = await mount(mountable);
      const ends = await Promise.all(surface.routes.map(({ path }) => hold(host, path)));
      await Promise.all([host.close(), host.close()]);
      await Promise.all(ends.map(({ ended }) => ended));
      assert.equal(host.pending, 0);
    },
    "has no problem once it is mounted": async (mountable) => {
      const { surface, host } = await mount(mountable);
      assert.equal(surface.problem?.(), undefined);
      await host.close();
    },
  });
}

async function mount(
  { create, arsenal }: MountableSurface,
  identity?: Identity,
): Promise<{ readonly surface: Surface; readonly host: Host }> {
  let surface: Surface | undefined;
  const { redactor } = createSecrets();
  const replica = await createReplica(memoryState());
  const host = await openHost(
    [(context) => (surface = create(context))],
    { arsenal, mode: "dynamic", startup: STARTED, work: createWork(), redactor, replica },
    { port: 0, drainMs: 0, ...(identity && { identity }) },
  );
  return { surface: surface as unknown as Surface, host };
}

/** Makes a request and waits for all of its answer. */
function ask(
  { url }: Host,
  path: string,
  { method, body = "" }: { readonly method: string; readonly body?: string },
): Promise<{ readonly status: number }> {
  const headers = { ...STREAMING, "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, url), { method, headers, agent: false }, (response) => {
      response.resume().once("end", () => resolve({ status: response.statusCode ?? 0 }));
    });
    sent.once("error", reject).end(body);
  });
}

/** Makes a GET and keeps its answer, which may be a stream, until the host ends it. */
function hold({ url }: Host, path: string): Promise<{ readonly ended: Promise<void> }> {
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, url), { headers: STREAMING, agent: false }, (response) => {
      resolve({ ended: new Promise((end) => void response.resume().once("close", () => end())) });
    });
    sent.once("error", reject).end();
  });
}
