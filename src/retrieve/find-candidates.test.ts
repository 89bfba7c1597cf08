import { describe, expect, it } from "vitest";
import { memoryEngine } from "../adapters/engines/memory.ts";
import { createCatalog } from "../catalog/catalog.ts";
import type { Principal } from "../guard/principal.ts";
import type { Emit } from "../observe/events.ts";
import { createHealth } from "../observe/health.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { sampleTools } from "../testing/sample-tools.ts";
import { defineTool } from "../tool/define-tool.ts";
import type { ToolDraft } from "../tool/draft.ts";
import type { Tool } from "../tool/tool.ts";
import type { RetrievalResult } from "./result.ts";
import { createRetriever, type Retriever, type RetrieverParts } from "./retriever.ts";
import { DEFAULT_SETTINGS } from "./settings.ts";

const clock = createManualClock();
const silent: Emit = () => {};
const context = { query: "send an email to a customer" };
const names = (result: RetrievalResult): readonly string[] => result.tools.map((found) => found.tool.name);

function tool(name: string, description: string, draft: Partial<ToolDraft> = {}): Tool {
  return defineTool({ name, description, parameters: { type: "object" }, ...draft });
}

async function retrieverOf(tools: readonly Tool[], parts: Partial<RetrieverParts> = {}): Promise<Retriever> {
  const catalog = createCatalog({ engine: memoryEngine(), emit: silent, clock });
  await catalog.upsert(tools);
  const health = createHealth({ clock, emit: silent });
  return createRetriever({
    catalog,
    health,
    sees: () => true,
    settings: DEFAULT_SETTINGS,
    emit: silent,
    clock,
    ...parts,
  });
}

describe("what no filter can state", () => {
  const many = Array.from({ length: 600 }, (_, index) =>
    tool(`send_email_${index}`, "Send an email to a customer.", { namespace: "secret" }),
  );
  const shown = tool("post_letter", "Posts a letter, or any email, to somebody.", { namespace: "open" });
  const sees: RetrieverParts["sees"] = ({ namespace }) => namespace === "open";

  it("is applied to what is found, looking further until enough is left [000-4.2-filters-first]", async () => {
    const retriever = await retrieverOf([...many, shown], { sees });
    expect(names(await retriever.retrieve({ context, scoreThreshold: 0 }))).toEqual(["post_letter"]);
  });

  it("leaves no trace of hidden tools in what is counted or judged", async () => {
    const { tools, confidence, candidateCount, filteredCount } = await (
      await retrieverOf([...many, shown], { sees })
    ).retrieve({ context, scoreThreshold: 0 });
    expect([tools.length, candidateCount, filteredCount]).toEqual([1, 1, 0]);
    const stated = await retrieverOf([...many, shown], { sees, visible: () => ({ namespaces: ["open"] }) });
    expect(await stated.retrieve({ context, scoreThreshold: 0 })).toMatchObject({
      confidence,
      candidateCount: 1,
      filteredCount: 0,
    });
  });

  it("leaves out a tool with an open circuit unless such are asked for [000-4.2-unhealthy]", async () => {
    const health = createHealth({ clock, emit: silent });
    health.setCircuit("default.send_email", true);
    const retriever = await retrieverOf(sampleTools(), { health, visible: () => ({ all: [] }) });
    const result = await retriever.retrieve({ context, scoreThreshold: 0 });
    expect(names(result)).not.toContain("send_email");
    expect([result.candidateCount, result.filteredCount]).toEqual([4, 1]);
    const all = await retriever.retrieve({ context, scoreThreshold: 0, excludeUnhealthy: false });
    expect(names(all)).toContain("send_email");
  });

  it("asks the principal's own visibility of the policy", async () => {
    const asked: unknown[] = [];
    const principal: Principal = { id: "someone", roles: [], capabilities: [], scopes: [], local: false };
    const retriever = await retrieverOf([...many.slice(0, 3), shown], {
      visible: (who) => (asked.push(who?.id), { namespaces: ["open"] }),
    });
    expect(names(await retriever.retrieve({ context, scoreThreshold: 0, principal }))).toEqual(["post_letter"]);
    expect(asked).toEqual(["someone"]);
  });
});
