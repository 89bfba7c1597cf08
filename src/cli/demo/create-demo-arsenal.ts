import { defaultCache } from "../../adapters/embedders/cache-folder.ts";
import type { TierName } from "../../adapters/embedders/shipped-tiers.ts";
import { ToolArsenal } from "../../arsenal.ts";
import { resolvedOptions, type ToolArsenalParts } from "../../wire/parts.ts";
import type { ToolArsenalConfig } from "../../config/config.ts";
import { resolveConfig } from "../../config/load/resolve-config.ts";
import type { Terminal } from "../command.ts";
import { forOperator } from "../arsenal/local-approvals.ts";
import type { DemoTool } from "./demo-tool.ts";
import { OFFICE_TOOLS } from "./office-tools.ts";
import { SALES_TOOLS } from "./sales-tools.ts";

/** The tools of a fictional company: realistic names, tools that are easily confused, and a few dangerous ones. */
export const DEMO_TOOLS: readonly DemoTool[] = [...SALES_TOOLS, ...OFFICE_TOOLS];

/** Creates an arsenal with the demo catalog. Its operator may approve their own calls, so that one person can try everything. */
export async function createDemoArsenal(
  parts: ToolArsenalParts = {},
  options: {
    readonly place?: Pick<Terminal, "environment" | "folder">;
    readonly tier?: TierName | undefined;
    readonly llm?: ToolArsenalConfig["llm"] | undefined;
  } = {},
): Promise<ToolArsenal> {
  const { place, tier, llm } = options;
  const config = resolveConfig({
    security: { selfApproval: "local", deny: ["drop_table"] },
    telemetry: { enabled: false },
    ...(llm !== undefined && { llm }),
    embedder: { cache: defaultCache(parts.environment ?? process.env), ...(tier !== undefined && { tier }) },
  });
  const arsenal = new ToolArsenal(resolvedOptions(place === undefined ? config : forOperator(config, place), parts));
  await arsenal.add(DEMO_TOOLS);
  return arsenal;
}
