import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runInMemory } from "../../../test/e2e/terminal.ts";
import { createDemoArsenal, DEMO_TOOLS } from "../demo/create-demo-arsenal.ts";

it("the demo shows the whole path in an empty folder, ends well, and leaves nothing behind", async () => {
  const folder = await mkdtemp(join(tmpdir(), "arsenal-"));
  const { code, out, err } = await runInMemory(["demo"], { folder });
  expect([code, err]).toEqual([0, ""]);
  for (const shown of [
    /1 {2}register {2}4\d business tools in \d+ ms, no configuration, no network/,
    /2 {2}retrieve {2}"the customer of order 1042 wants her money back"\n {3}0\.\d\d {2}billing\.process_refund /,
    /5 of 4\d tools in \d+\.\d ms\n {3}about \d+ tokens in the prompt instead of \d+, \d\d % saved/,
    /"play the next song on Spotify in the living room"\n {3}no tool fits \(confidence 0\.\d\d\), so refuse: "eager" returns none/,
    /Output: .*"Dana Whitfield"/,
    /name: expected string,\s+received nothing/,
    /permission_denied {2}"intern" lacks the capability financial/,
    /failure {2}No tool "data\.drop_table" is registered/,
    /pending_confirmation {2}A person must approve billing\.process_refund/,
    /permission_denied {2}approved for order 1042, tried with 1043/,
    /success {2}{"refunded":"1042","amount":129}/,
    /failure → failure → failure → failure → failure → circuit_open/,
    /in front of your MCP servers\s+.* setup, then .* serve/,
  ]) {
    expect(out).toMatch(shown);
  }
  expect(out).not.toMatch(/ +$/m);
  expect(await readdir(folder)).toEqual([]);
  await rm(folder, { recursive: true });
});

it("the demo as JSON has every step with its numbers", async () => {
  const { out } = await runInMemory(["demo", "--json"]);
  const { steps } = JSON.parse(out) as { readonly steps: readonly Record<string, unknown>[] };
  expect(steps.map(({ step }) => step)).toEqual([
    "register",
    "retrieve",
    "retrieve",
    "retrieve",
    "execute",
    "execute",
    "guard",
    "confirm",
    "protect",
  ]);
  expect(steps[1]).toMatchObject({ of: DEMO_TOOLS.length - 1, tools: { length: 5 } });
  expect(steps.at(-1)).toMatchObject({ consecutiveFailures: 5 });
});

it("the demo catalog has the five sample tools and some forty more, all of them good", async () => {
  const names = DEMO_TOOLS.map(({ tool }) => tool.name);
  for (const name of ["query_database", "send_email", "create_user", "process_refund", "generate_report"])
    expect(names).toContain(name);
  await using arsenal = await createDemoArsenal();
  expect(arsenal.toolCount).toBe(DEMO_TOOLS.length);
  expect(DEMO_TOOLS.length).toBeGreaterThanOrEqual(45);
});
