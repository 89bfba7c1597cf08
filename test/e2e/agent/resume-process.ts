/** Resumes a saved run in a process of its own. Reads what it needs from stdin, as JSON, and prints how the run ended. */
import { text } from "node:stream/consumers";
import type { AgentResult, SavedRun } from "../../../src/agent/index.ts";
import type { ModelDouble } from "../../doubles/llms/model-double.ts";
import { openSeller, openShop } from "./shop.ts";

export interface Resumed {
  readonly shop: Parameters<typeof openShop>[0];
  readonly settings: ModelDouble["settings"];
  readonly stream: boolean;
  readonly saved: SavedRun;
}

export type Printed = Pick<AgentResult, "status" | "text" | "steps" | "traceId"> & { readonly pid: number };

const { shop, settings, stream, saved } = JSON.parse(await text(process.stdin)) as Resumed;
await using arsenal = await openShop(shop);
const agent = await openSeller(arsenal, settings, { stream });
const { status, text: said, steps, traceId } = await agent.resume(saved).result;
const printed: Printed = { status, text: said, steps, traceId, pid: process.pid };
process.stdout.write(JSON.stringify(printed));
