/**
 * The time from the answer to the revocation of a key until three gateways, each a process of its own on one store, have refused the key, ended its
 * open stream and cancelled its running calls on every surface. Prints the slowest of several runs.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { STORES } from "../test/e2e/replicas/states.ts";
import { startProcesses } from "../test/e2e/teams/fleet.ts";
import { measureRevocation, type Revocation, WAYS } from "../test/e2e/teams/revocation.ts";

const { values } = parseArgs({
  options: { runs: { type: "string", default: "5" }, store: { type: "string", default: "" } },
});

for (const kind of STORES.filter(({ name }) => name.toLowerCase().includes(values.store.toLowerCase()))) {
  const folder = mkdtempSync(join(tmpdir(), "toolarsenal-revoked-"));
  const store = await kind.open(folder);
  const fleet = await startProcesses(store.settings);
  try {
    const runs: (readonly Revocation[])[] = [];
    for (let run = 0; run < Number(values.runs); run++) runs.push(await measureRevocation(fleet, `revoked-${run}`));
    const slowest = (pick: (gateway: Revocation) => number): string =>
      [0, 1, 2].map((at) => Math.max(...runs.map((run) => Math.round(pick(run[at] as never)))).toString()).join(" / ");
    process.stdout.write(`Three processes on ${kind.name}, ${values.runs} runs, the slowest in ms at each gateway:\n`);
    process.stdout.write(`  ${"first 401".padEnd(28)}${slowest(({ refused }) => refused)}\n`);
    process.stdout.write(`  ${"stream ended".padEnd(28)}${slowest(({ stream }) => stream)}\n`);
    for (const way of WAYS)
      process.stdout.write(`  ${`call ended, ${way}`.padEnd(28)}${slowest(({ calls }) => calls[way])}\n`);
  } finally {
    await fleet.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
