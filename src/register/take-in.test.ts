import { describe, expect, it } from "vitest";
import { createTestSource, draft, setUp } from "../../test/register/test-ensembles.ts";
import { defineTool } from "../tool/define-tool.ts";
import type { Tool } from "../tool/tool.ts";

describe("what a source is trusted with", () => {
  it("its own namespaces: a tool that names another is in the first of them, which is told [000-15.2-namespaces]", async () => {
    const { ensembles, registry, events, ids } = setUp();
    const drafts = [
      { ...draft("pay"), namespace: "bank" },
      { ...draft("look"), namespace: "Files-Two" },
      draft("read"),
    ];
    await ensembles.add(createTestSource("files", drafts, { namespaces: ["files", "files-two"] }).source);
    expect(ids("files")).toEqual(["files.pay", "files-two.look", "files.read"]);
    expect((await registry.get("files.pay"))?.sourceMeta).toEqual({ namespace: "bank", parameters: null });
    expect(events.filter(([name]) => name === "namespace-refused")).toEqual([
      ["namespace-refused", { ensemble: "files", toolId: "files.pay", namespace: "bank" }],
    ]);
  });

  it("any namespace, where the operator wrote the definitions", async () => {
    const { ensembles, ids } = setUp();
    await ensembles.add(
      createTestSource("set", [{ ...draft("pay"), namespace: "bank" }], { namespaces: "any" }).source,
    );
    expect(ids("set")).toEqual(["bank.pay"]);
  });

  it("what it implies: each tool can touch it, whatever the tool declares [000-15.2-implied-capabilities]", async () => {
    const { ensembles, registry } = setUp();
    const drafts = [{ ...draft("a"), capabilities: ["read_data"] as const }, draft("b")];
    await ensembles.add(createTestSource("web", drafts, { capabilities: ["network_access"] }).source);
    expect(await registry.get("web.a")).toMatchObject({
      capabilities: ["read_data", "network_access"],
      riskLevel: "medium",
    });
    expect((await registry.get("web.b"))?.capabilities).toEqual(["network_access"]);
  });

  it("its annotations, only where the operator vouches for them", async () => {
    const { ensembles, registry } = setUp();
    const hinted = [{ ...draft("look"), annotations: { readOnly: true, confirmed: true } }];
    await ensembles.add(createTestSource("a", hinted).source);
    await ensembles.add(createTestSource("b", hinted, { trustsAnnotations: true }).source);
    expect((await registry.get("a.look"))?.annotations).toEqual({ readOnly: true, confirmed: false });
    expect((await registry.get("b.look"))?.annotations).toEqual({ readOnly: true, confirmed: true });
  });

  it("no more tools than the policy allows; those that vanish make room first", async () => {
    const { ensembles, events, ids } = setUp({ limits: { maxTools: 2 } });
    const { source, offer } = createTestSource("files", ["a", "b", "c"].map(draft));
    expect(await ensembles.add(source)).toEqual({ tools: 2 });
    expect(ids("files")).toEqual(["files.a", "files.b"]);
    expect(events.find(([name]) => name === "tool-rejected")).toEqual([
      "tool-rejected",
      {
        name: "files.c",
        code: "TOOL_INVALID",
        message:
          "files.c is not registered: there are 2 tools, and the policy allows no more than 2. Remove some, or raise the preset maxTools of the policy.",
      },
    ]);
    offer(["b", "c"].map(draft));
    await ensembles.relist("files");
    expect(ids("files")).toEqual(["files.b", "files.c"]);
  });

  it("no name that a tool of another namespace has, where the policy says so", async () => {
    const { ensembles, registry, ids } = setUp({ limits: { allowDuplicateNames: false } });
    await ensembles.add(createTestSource("a", [draft("open")]).source);
    const { source, offer } = createTestSource("b", [draft("open"), draft("shut")]);
    await ensembles.add(source);
    expect(ids("b")).toEqual(["b.shut"]);
    offer([draft("shut")]);
    await ensembles.relist("b");
    expect(ids("b")).toEqual(["b.shut"]);
    expect(() =>
      registry.addOne({ tool: defineTool({ name: "open", description: "Written by hand.", parameters: {} }) }),
    ).toThrow("default.open is not registered: a.open has the same name, which the policy does not allow.");
  });
});

describe("names and order", () => {
  it("gives tools whose names become the same their ids whatever the order they are listed in", async () => {
    const names = ["readFile", "read-file", "list", "tool_list"];
    const found = await Promise.all(
      [names, names.toReversed()].map(async (order) => {
        const { ensembles, registry } = setUp();
        await ensembles.add(createTestSource("files", order.map(draft)).source);
        return registry
          .ofEnsemble("files")
          .map(({ id, sourceName }) => `${id} ${sourceName}`)
          .sort();
      }),
    );
    expect(found[0]).toEqual(found[1]);
    expect(found[0]).toContain("files.tool_list tool_list");
  });

  it("gives no id twice while what two sources offer is reviewed", async () => {
    const { ensembles, registry } = setUp({ review: async (offer) => offer });
    const shared = { namespaces: ["shared"] };
    await Promise.all(["a", "b"].map((name) => ensembles.add(createTestSource(name, [draft("open")], shared).source)));
    expect((await registry.get("shared.open"))?.ensemble).toBe("a");
    expect(registry.ofEnsemble("b").map(({ id }) => id.replace(/[0-9a-f]{8}$/, "#"))).toEqual(["shared.open_#"]);
  });
});

describe("a review", () => {
  it("decides what is registered, and hears what the source says of itself", async () => {
    const heard: unknown[] = [];
    const { ensembles, ids } = setUp({
      async review(offer) {
        heard.push([offer.ensemble, offer.tools.map(({ id }) => id), offer.instructions]);
        return { tools: offer.tools.slice(1) };
      },
    });
    const { source } = createTestSource("files", [draft("a"), draft("b")], { instructions: () => "Be kind." });
    expect(await ensembles.add(source)).toEqual({ tools: 1 });
    expect(ids("files")).toEqual(["files.b"]);
    expect(heard).toEqual([["files", ["files.a", "files.b"], "Be kind."]]);
  });

  it("that ends after the ensemble was removed registers nothing", async () => {
    const gate = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const { ensembles, registry } = setUp({
      async review(offer) {
        begun.resolve();
        await gate.promise;
        return offer;
      },
    });
    const adding = ensembles.add(createTestSource("files", [draft("a")]).source);
    await begun.promise;
    await ensembles.remove("files");
    gate.resolve();
    await expect(adding).rejects.toMatchObject({ code: "SOURCE_UNAVAILABLE" });
    expect(registry.size).toBe(0);
  });
});

describe("taking in many tools", () => {
  /** Takes longer than one turn may last, whatever the machine. */
  const slowly = (tool: Tool): Tool => {
    for (const end = performance.now() + 15; performance.now() < end;);
    return tool;
  };

  it("lets everybody else have a turn between two tools", async () => {
    const { ensembles } = setUp({ screen: slowly });
    let turns = 0;
    let done = false;
    const count = (): void => {
      turns++;
      if (!done) setImmediate(count);
    };
    setImmediate(count);
    await ensembles.add(createTestSource("files", ["a", "b", "c", "d", "e"].map(draft)).source);
    done = true;
    expect(turns).toBeGreaterThanOrEqual(4);
  });

  it("gives no id twice, though two sources are taken in at the same time", async () => {
    const { ensembles, ids } = setUp({ screen: slowly });
    const shared = { namespaces: ["shared"] };
    const sources = ["one", "two"].map((name) => createTestSource(name, ["a", "b", "c"].map(draft), shared).source);
    await Promise.all(sources.map((source) => ensembles.add(source)));
    const all = [...ids("one"), ...ids("two")];
    expect(new Set(all).size).toBe(6);
  });
});
