import type { ToolArsenal } from "../../arsenal.ts";
import { META_TOOLS } from "../../serve/mcp/aggregate/meta-tools.ts";
import { entryOf } from "../../serve/mcp/aggregate/tool-entry.ts";
import { estimateTokens } from "../../tool/estimate-tokens.ts";

/** What a client's tool list costs a model, in this mode and with every tool listed. */
export interface TokenSaving {
  readonly tools: number;
  readonly tokensOfAll: number;
  /** Absent where the list is another for other callers. */
  readonly tokensShown?: number;
}

/** Counts the definitions as they are served. */
export async function measureSaving(arsenal: ToolArsenal, mode: "static" | "dynamic" | "hybrid"): Promise<TokenSaving> {
  const tools = await arsenal.listTools();
  const tokensOfAll = tools.reduce((sum, tool) => sum + entryOf(tool).tokens, 0);
  if (mode === "hybrid") return { tools: tools.length, tokensOfAll };
  const tokensShown = mode === "static" ? tokensOfAll : estimateTokens(JSON.stringify(META_TOOLS));
  return { tools: tools.length, tokensOfAll, tokensShown };
}

/** The count in words: `49 tools; a client's list costs about 180 tokens instead of 4,200 (96 % saved)` */
export function showSaving({ tools, tokensOfAll, tokensShown }: TokenSaving): string {
  const count = `${tools} ${tools === 1 ? "tool" : "tools"}`;
  const all = tokensOfAll.toLocaleString("en");
  if (tokensShown === undefined || tokensShown >= tokensOfAll) return `${count}, about ${all} tokens if all are listed`;
  const saved = Math.round((1 - tokensShown / tokensOfAll) * 100);
  return `${count}; a client's list costs about ${tokensShown.toLocaleString("en")} tokens instead of ${all} (${saved} % saved)`;
}
