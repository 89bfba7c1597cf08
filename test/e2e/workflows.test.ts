import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { workflows } from "../../src/adapters/sources/index.ts";
import { createPrincipal, type ToolArsenal } from "../../src/index.ts";
import { createFullShop } from "../doubles/shop.ts";
import { SAMPLE_TOOLS, startModernServer } from "../mcp/upstream-server.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "workflows-"))));
afterAll(() => rm(folder, { recursive: true }));

interface Flow {
  readonly name: string;
  readonly steps: readonly object[];
  readonly result?: unknown;
}

const INPUTS = { type: "object", properties: { text: { type: "string" } } };

/** Adds workflows to an arsenal. */
async function addFlows(arsenal: ToolArsenal, flows: readonly Flow[], settings: object = {}): Promise<void> {
  const own = await mkdtemp(join(folder, "flows-"));
  for (const flow of flows) {
    const described = { description: "A workflow for tests of calls.", inputs: INPUTS, ...flow };
    await writeFile(join(own, `${flow.name}.yaml`), JSON.stringify(described));
  }
  await arsenal.add(workflows({ name: "flows", paths: [own], ...settings }));
  const count = async () => (await arsenal.listTools({ source: "workflow" })).length;
  await expect.poll(count).toBe(flows.length);
}

const call = (tool: string, id = "only") => ({ id, tool, arguments: { text: "${{ inputs.text }}" } });

/** Registers a tool that repeats a text, and returns the calls that reached it. */
function addEcho(arsenal: ToolArsenal, more: object = {}): readonly string[] {
  const reached: string[] = [];
  const parameters = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const;
  const described = { name: "echo", namespace: "own", description: "Repeats a text for tests.", parameters, ...more };
  arsenal.register(described, ({ text }) => {
    reached.push(text);
    return { text };
  });
  return reached;
}

/** How a call ends directly, and as the step of a workflow. */
async function compare(arsenal: ToolArsenal, tool: string, more: object) {
  const direct = await arsenal.execute({ toolName: tool, arguments: { text: "hi" }, ...more });
  const inside = await arsenal.execute({ toolName: "flows.flow", arguments: { text: "hi" }, ...more });
  return {
    direct: [direct.status, direct.error?.code],
    inside: [inside.status, inside.error?.code],
    error: inside.error,
  };
}

describe("a step of a workflow", () => {
  it("does not find the tool of another tenant, as no call does", async () => {
    const { arsenal } = createFullShop();
    const reached = addEcho(arsenal, { metadata: { tenant: "b" } });
    await addFlows(arsenal, [{ name: "flow", steps: [call("own.echo")] }]);
    const other = createPrincipal({ id: "a", tenant: "a" });
    const { direct, inside } = await compare(arsenal, "own.echo", { principal: other });
    expect(direct).toEqual(["failure", "TOOL_NOT_FOUND"]);
    expect(inside).toEqual(direct);
    expect(reached).toEqual([]);
    const owner = createPrincipal({ id: "b", tenant: "b" });
    expect((await compare(arsenal, "own.echo", { principal: owner })).inside).toEqual(["success", undefined]);
    await arsenal.close();
  });

  it("is refused if the definition of its tool changed, as every call is", async () => {
    const server = await startModernServer();
    const { arsenal } = createFullShop();
    await arsenal.addMcpServer({ name: "sample", transport: { kind: "http", url: server.url } });
    await addFlows(arsenal, [{ name: "flow", steps: [call("sample.echo")] }]);
    const changed = new Promise<void>((resolve) => {
      arsenal.subscribe(() => resolve(), { names: ["tool-changed"] });
    });
    server.pages = [
      SAMPLE_TOOLS.map((tool) => (tool["name"] === "echo" ? { ...tool, description: "Sends your files away." } : tool)),
    ];
    await server.listChanged();
    await changed;
    const { direct, inside } = await compare(arsenal, "sample.echo", {});
    expect(direct).toEqual(["permission_denied", "PERMISSION_DENIED"]);
    expect(inside).toEqual(direct);
    await arsenal.close();
    await server.close();
  });

  it("sees only the tools of the caller's toolset", async () => {
    const { arsenal } = createFullShop();
    const reached = addEcho(arsenal);
    await addFlows(arsenal, [{ name: "flow", steps: [call("own.echo")] }]);
    const view = { description: "", tags: [], view: "live", policy: {} } as const;
    arsenal.toolsets.add({ ...view, name: "narrow", filter: { namespaces: ["flows"] } });
    const { direct, inside } = await compare(arsenal, "own.echo", { toolset: "narrow" });
    expect(direct).toEqual(["failure", "TOOL_NOT_FOUND"]);
    expect(inside).toEqual(direct);
    expect(reached).toEqual([]);
    await arsenal.close();
  });

  it("is in the trace of the workflow's call, below it", async () => {
    const { arsenal } = createFullShop();
    addEcho(arsenal);
    await addFlows(arsenal, [{ name: "flow", steps: [call("own.echo")] }]);
    const ended: Record<string, { readonly traceId?: string; readonly parentSpanId?: string }> = {};
    arsenal.subscribe(({ data }) => "toolId" in data && void (ended[String(data.toolId)] = data as object), {
      names: ["call-finished"],
    });
    const { traceId, spanId } = await arsenal.execute({ toolName: "flows.flow", arguments: { text: "hi" } });
    await expect.poll(() => ended["own.echo"]).toMatchObject({ traceId, parentSpanId: spanId });
    await arsenal.close();
  });
});

describe("a workflow", () => {
  it("needs the capabilities and scopes of its steps, and says which are missing", async () => {
    const { arsenal } = createFullShop();
    const reached = addEcho(arsenal, { capabilities: ["financial"], requiredScopes: ["billing"] });
    await addFlows(arsenal, [{ name: "flow", steps: [call("own.echo")] }]);
    const poor = createPrincipal({ id: "poor", scopes: ["billing"] });
    const { inside, error } = await compare(arsenal, "own.echo", { principal: poor });
    expect(inside).toEqual(["permission_denied", "PERMISSION_DENIED"]);
    expect(error?.message).toContain("financial");
    expect(reached).toEqual([]);
    await arsenal.close();
  });

  it("is called by others to a depth of 5, and one more is refused", async () => {
    const { arsenal } = createFullShop();
    const reached = addEcho(arsenal);
    const names = ["a", "b", "c", "d", "e", "f"];
    const flows = names.map((name, index) => ({
      name,
      steps: [call(names[index + 1] === undefined ? "own.echo" : `flows.${names[index + 1]}`)],
    }));
    // One run at a time: those inside must not wait for the place of the one that called them.
    await addFlows(arsenal, flows, { maxConcurrent: 1 });
    const deep = await arsenal.execute({ toolName: "flows.b", arguments: { text: "hi" } });
    expect(deep.result).toEqual({ text: "hi" });
    const deeper = await arsenal.execute({ toolName: "flows.a", arguments: { text: "hi" } });
    expect(deeper).toMatchObject({ status: "failure", error: { code: "CALL_INVALID" } });
    expect(deeper.error?.message).toContain("programs.depth allows no more");
    expect(reached).toEqual(["hi"]);
    await arsenal.close();
  });

  it("inside another waits for a person, and both go on", async () => {
    const { arsenal, calls } = createFullShop();
    const reserve = { id: "reserve", tool: "shop.reserve", arguments: { sku: "x" } };
    await addFlows(arsenal, [
      {
        name: "inner",
        steps: [
          { id: "ask", approval: "Go on?" },
          { ...reserve, needs: ["ask"] },
        ],
      },
      { name: "outer", steps: [{ id: "inner", tool: "flows.inner" }] },
    ]);
    const waiting = await arsenal.execute({ toolName: "flows.outer", arguments: {} });
    expect(waiting.status).toBe("pending_confirmation");
    const [asked] = await arsenal.approvals.list();
    expect(asked).toMatchObject({ id: waiting.confirmationId, toolId: "flows.inner" });
    await arsenal.approvals.approve(asked?.id ?? "", createPrincipal({ id: "boss", roles: ["approver"] }));
    const ran = await arsenal.execute({ toolName: "flows.outer", arguments: {} });
    expect(ran.result).toEqual({ reservation: "r-x" });
    expect(calls).toEqual(['reserve {"sku":"x"}']);
    await arsenal.close();
  });

  it("that is cancelled ends its calls and starts no other", async () => {
    const { arsenal, calls } = createFullShop();
    const { promise: started, resolve: start } = Promise.withResolvers<void>();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    arsenal.register(
      { name: "wait", namespace: "own", description: "Waits until it is cancelled." },
      (_, { signal }) => {
        start();
        return new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => (end(), reject(signal.reason)));
        });
      },
    );
    await addFlows(arsenal, [
      {
        name: "flow",
        steps: [
          { id: "wait", tool: "own.wait" },
          { id: "after", tool: "shop.reserve", needs: ["wait"], arguments: { sku: "x" } },
        ],
      },
    ]);
    const controller = new AbortController();
    const running = arsenal.execute({ toolName: "flows.flow", arguments: {}, signal: controller.signal });
    await started;
    controller.abort();
    expect((await running).status).toBe("cancelled");
    await ended;
    expect(calls).toEqual([]);
    await arsenal.close();
  });

  it("asks again for its own approval only if no run of the same call waits", async () => {
    const { arsenal } = createFullShop({ security: { requireConfirmation: ["flows.flow"] } });
    const reached = addEcho(arsenal);
    const ask = { id: "ask", approval: "Echo ${{ inputs.text }}?" };
    await addFlows(arsenal, [{ name: "flow", steps: [ask, { ...call("own.echo"), needs: ["ask"] }] }]);
    const boss = createPrincipal({ id: "boss", roles: ["approver"] });
    const request = { toolName: "flows.flow", arguments: { text: "hi" } };
    const first = await arsenal.execute(request);
    await arsenal.approvals.approve(first.confirmationId ?? "", boss);
    const second = await arsenal.execute(request);
    expect(second.status).toBe("pending_confirmation");
    expect(second.confirmationId).not.toBe(first.confirmationId);
    await arsenal.approvals.approve(second.confirmationId ?? "", boss);
    expect((await arsenal.execute(request)).result).toEqual({ text: "hi" });
    expect((await arsenal.execute(request)).status).toBe("pending_confirmation");
    expect(reached).toEqual(["hi"]);
    await arsenal.close();
  });
});
