import { describe, expect, it } from "vitest";
import { ToolArsenal } from "../../arsenal.ts";
import type { ArsenalEvent } from "../../observe/events.ts";

async function call(args: Record<string, unknown>): Promise<{ readonly outcome: unknown; readonly told: unknown[] }> {
  const arsenal = new ToolArsenal({ telemetry: { enabled: false } });
  const events: ArsenalEvent[] = [];
  arsenal.subscribe((event) => void events.push(event));
  const parameters = {
    type: "object",
    properties: {
      count: { type: "number" },
      note: { type: "string" },
      where: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    },
    required: ["count"],
  } as const;
  arsenal.register({ name: "order", description: "Orders things.", parameters }, (given) => given);
  const { result, error } = await arsenal.execute({ toolName: "order", arguments: args });
  await arsenal.close();
  const told = events.flatMap((event) => (event.name === "arguments-repaired" ? [event.data.repairs] : []));
  return { outcome: result ?? error?.code, told: told.flat().map(({ path }) => path) };
}

describe("arguments that do not fit", () => {
  it("run as what was plainly meant, each change told", async () => {
    expect(await call({ count: "3", note: null, where: '{"city":"Oslo"}' })).toEqual({
      outcome: { count: 3, where: { city: "Oslo" } },
      told: ["/count", "/note", "/where"],
    });
  });

  it("are refused as they were given where it is not plain", async () => {
    expect(await call({ count: "many", note: null })).toEqual({ outcome: "ARGUMENTS_INVALID", told: [] });
  });

  it("are left alone where they fit", async () => {
    const args = { count: 3, note: "null", extra: "5" };
    expect(await call(args)).toEqual({ outcome: args, told: [] });
  });
});
