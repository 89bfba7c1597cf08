import type { DemoTool } from "./demo-tool.ts";
import { OFFICE_TOOLS } from "./office-tools.ts";
import { SALES_TOOLS } from "./sales-tools.ts";

/** The business tools of an invented company: believable names, neighbours that are easily confused, and a few dangerous ones. */
export const DEMO_TOOLS: readonly DemoTool[] = [...SALES_TOOLS, ...OFFICE_TOOLS];
