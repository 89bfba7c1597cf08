import { ToolArsenal } from "../../arsenal.ts";
import type { ToolArsenalParts } from "../../config/arsenal-parts.ts";
import { DEMO_TOOLS } from "./catalog.ts";

/** An arsenal with the demo catalog. Its operator may approve their own calls, so that one person can see the whole path. */
export async function createDemoArsenal(parts: ToolArsenalParts = {}): Promise<ToolArsenal> {
  const arsenal = new ToolArsenal(
    { security: { selfApproval: "local", deny: ["drop_table"] }, telemetry: { enabled: false } },
    parts,
  );
  await arsenal.addTools(DEMO_TOOLS);
  return arsenal;
}
