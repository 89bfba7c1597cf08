import { expect, it } from "vitest";
import { ToolArsenal } from "../../arsenal.ts";
import { measureSaving, showSaving } from "./token-saving.ts";

async function arsenalOf(count: number): Promise<ToolArsenal> {
  const arsenal = new ToolArsenal({ telemetry: { enabled: false } });
  const parameters = { type: "object", properties: { path: { type: "string" } } } as const;
  await arsenal.add(
    Array.from({ length: count }, (_, index) => ({
      tool: { name: `tool_${index + 100}`, description: "Does one of very many things.", parameters },
    })),
  );
  return arsenal;
}

it("counts what each search adds to a client's list, not the list alone", async () => {
  await using arsenal = await arsenalOf(100);
  const saving = await measureSaving(arsenal, "dynamic");
  expect(saving.tokensPerSearch).toBe(Math.round(saving.tokensOfAll / 20));
  expect(showSaving(saving)).toBe(
    `100 tools; a client's list costs about ${saving.tokensShown} tokens and each search about ${saving.tokensPerSearch} more, instead of ${saving.tokensOfAll.toLocaleString("en")}`,
  );
});

it("says when listing every tool costs no more than one search", async () => {
  await using arsenal = await arsenalOf(6);
  const saving = await measureSaving(arsenal, "dynamic");
  expect(showSaving(saving)).toBe(
    `6 tools, about ${saving.tokensOfAll} tokens if all are listed; with so few, --mode static costs less`,
  );
});

it("claims nothing for a list of every tool, or of the most common ones", async () => {
  await using arsenal = await arsenalOf(100);
  for (const mode of ["static", "hybrid"] as const) {
    const saving = await measureSaving(arsenal, mode);
    expect(showSaving(saving)).toBe(
      `100 tools, about ${saving.tokensOfAll.toLocaleString("en")} tokens if all are listed`,
    );
  }
});
