import { expect, it } from "vitest";
import { memoryAudit } from "../../src/adapters/audit/memory.ts";
import { memoryEngine } from "../../src/adapters/engines/memory.ts";
import { ToolArsenal } from "../../src/index.ts";

const quiet = { telemetry: { enabled: false } } as const;

async function readiness(url: string | undefined): Promise<readonly [number, unknown]> {
  const response = await fetch(`${url}/readyz`);
  return [response.status, await response.json()];
}

it("a gateway is not ready while its catalog is away", async () => {
  const engine = memoryEngine();
  const away = { ...engine, count: () => Promise.reject(new Error("away")) };
  await using arsenal = new ToolArsenal({ ...quiet, engine: away });
  const served = await arsenal.serve({ port: 0 });
  expect(await readiness(served.url)).toEqual([
    503,
    { upstreams: {}, problems: { catalog: "does not answer: tools cannot be listed or searched" } },
  ]);
  expect((await fetch(`${served.url}/healthz`)).status).toBe(200);
  await served.close();
});

it.each(["strict", "standard"] as const)(
  "a gateway under a %s policy whose audit log is away is not ready, and starts nothing that may change something",
  async (policy) => {
    const log = memoryAudit();
    const away = {
      ...log,
      head: () => Promise.reject(new Error("away")),
      append: () => Promise.reject(new Error("away")),
    };
    await using arsenal = new ToolArsenal({ ...quiet, security: { policy, allow: ["look", "act"] }, audit: away });
    const served = await arsenal.serve({ port: 0 });
    expect((await readiness(served.url))[0]).toBe(503);
    for (const readOnly of [true, false]) {
      const draft = { name: readOnly ? "look" : "act", description: "Looks or acts.", annotations: { readOnly } };
      arsenal.register(draft, () => "done");
      const { status, error } = await arsenal.execute({ toolName: draft.name });
      if (readOnly && policy === "standard") expect(status).toBe("success");
      else {
        const message = expect.stringContaining(`${draft.name} was not started: its audit record could not be kept`);
        expect(error).toMatchObject({ code: "AUDIT_FAILED", message });
      }
    }
    await served.close();
  },
);

it("a gateway that has what it needs is ready", async () => {
  await using arsenal = new ToolArsenal({ ...quiet, security: { policy: "strict" }, audit: memoryAudit() });
  const served = await arsenal.serve({ port: 0 });
  expect(await readiness(served.url)).toEqual([200, { upstreams: {} }]);
  await served.close();
});
