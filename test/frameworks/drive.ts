/** Resumes a run in a process of its own: `node --import ./resolve.ts drive.ts NAME FOLDER BASE_URL approve|deny`. Reads the saved run from stdin. */
import { text } from "node:stream/consumers";
import type { FrameworkRow } from "./row.ts";
import { AGENT, createShop, DANA } from "./shop.ts";

const [name = "", folder = "", baseURL = "", answer] = process.argv.slice(2);
const { row } = (await import(`./rows/${name}.ts`)) as { readonly row: FrameworkRow };
const { arsenal } = createShop(folder);
const { signal } = new AbortController();
const prompt = "Refund order 1042";
const task = { arsenal, baseURL, prompt, limit: 6, principal: AGENT, approver: DANA, signal };
const run = await row.resume(task, await text(process.stdin), answer === "approve" ? "approve" : "deny");
await arsenal.close();
process.stdout.write(JSON.stringify(run), () => process.exit());
