import type { ToolArsenal } from "../../arsenal.ts";
import { META_TOOLS, type ServeMode } from "../../serve/meta-tools/definitions.ts";
import { foundDefinition } from "../../serve/meta-tools/find-tools.ts";
import { shownTool } from "../../serve/meta-tools/shown-tool.ts";
import { count } from "../../errors/show-value.ts";
import { estimateTokens } from "../../tool/estimate-tokens.ts";

/** The tokens of a client's tools, in this mode and with every tool listed. */
export interface TokenSaving {
  readonly tools: number;
  readonly tokensOfAll: number;
  /** The tokens of the tool list. Omitted in hybrid mode, where the list depends on the caller. */
  readonly tokensShown?: number;
  /** The tokens of one search result with the maximum number of average tools. Present in dynamic mode. */
  readonly tokensPerSearch?: number;
}

const TOOLS_PER_SEARCH = 5;

export async function measureSaving(arsenal: ToolArsenal, mode: ServeMode, toolset?: string): Promise<TokenSaving> {
  const tools = await arsenal.listTools({ includeRefused: true, ...(toolset !== undefined && { toolset }) });
  const tokensOfAll = tools.reduce((sum, tool) => sum + tokensOf(shownTool(tool)), 0);
  const all = { tools: tools.length, tokensOfAll };
  switch (mode) {
    case "hybrid":
    case "code":
      return all;
    case "static":
      return { ...all, tokensShown: tokensOfAll };
    case "dynamic": {
      const share = tools.length === 0 ? 0 : Math.min(1, TOOLS_PER_SEARCH / tools.length);
      const found = tools.reduce((sum, tool) => sum + tokensOf(foundDefinition(tool)), 0);
      return { ...all, tokensShown: tokensOf(META_TOOLS), tokensPerSearch: Math.round(found * share) };
    }
  }
}

function tokensOf(value: unknown): number {
  return estimateTokens(JSON.stringify(value));
}

/** Formats the result: `49 tools; a client's list costs about 180 tokens and each search about 430 more, instead of 4,200` */
export function showSaving({ tools, tokensOfAll, tokensShown, tokensPerSearch }: TokenSaving): string {
  // Formatting one number with `toLocaleString` takes 8 ms, because it loads the data of a locale.
  const number = (tokens: number): string => String(tokens).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
  const listed = `${count(tools, "tool")}, about ${number(tokensOfAll)} tokens if all are listed`;
  if (tools === 0 || tokensShown === undefined || tokensPerSearch === undefined) return listed;
  if (tokensShown + tokensPerSearch >= tokensOfAll) return `${listed}; with so few, --mode static costs less`;
  return `${count(tools, "tool")}; a client's list costs about ${number(tokensShown)} tokens and each search about ${number(tokensPerSearch)} more, instead of ${number(tokensOfAll)}`;
}
