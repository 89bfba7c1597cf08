import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeInBrowser } from "./dashboard/describe-in-browser.ts";
import { visit } from "./dashboard/visit.ts";
import { type KeyedGateway, startKeyedGateway } from "./rest/keyed-gateway.ts";
import { MAIN } from "../kit/program.ts";

/** Characters that change the direction of text, have no width, or steer a terminal. */
// oxlint-disable-next-line no-control-regex -- because a terminal's escapes are control characters
const HIDDEN = /[\u061C\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF\u001B\u009B\u{E0001}-\u{E007F}]/u;

/** Read by a person, it pays "001" to "dana"; an agent wrote "100", and an instruction that nobody sees. */
const ARGUMENTS = {
  amount: "\u202E001\u202C",
  to: "da\u200Bna\u2066\u2069",
  note: `thanks\u{E0068}\u{E0069} \u001B[8mhidden\u009B0m`,
};

const MODULE = `const parameters = { type: "object", additionalProperties: { type: "string" } };
export default (arsenal) => {
  arsenal.register({ name: "pay", description: "Pays a person.", requiresConfirmation: true, parameters }, () => "paid");
  arsenal.register({ name: "repeat", description: "Says what it is told.", parameters }, (said) => said);
};`;

let folder: string;
let gateway: KeyedGateway;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "toolarsenal-hidden-"));
  writeFileSync(join(folder, "pay.mjs"), MODULE);
  const state = { file: join(folder, "state.sqlite") };
  writeFileSync(join(folder, "arsenal.yaml"), JSON.stringify({ state }));
  gateway = await startKeyedGateway({ settings: { modules: [join(folder, "pay.mjs")], state } });
  const call = { toolName: "pay", arguments: ARGUMENTS };
  const { body } = await gateway.ask("guest", "POST", "/api/v1/execute", call);
  expect(body.error).toMatchObject({ code: "CONFIRMATION_REQUIRED" });
});
afterAll(async () => {
  await gateway.close();
  rmSync(folder, { recursive: true });
});

describe("hidden characters that an agent wrote", () => {
  it("are escaped in answers of the REST API, which say the same to programs", async () => {
    const { text, body } = await gateway.ask("approver", "GET", "/api/v1/approvals");
    expect(text).not.toMatch(HIDDEN);
    expect(text).toContain(String.raw`\u202e001\u202c`);
    expect(body.approvals).toMatchObject([{ arguments: ARGUMENTS }]);
    const call = { toolName: "repeat", arguments: ARGUMENTS };
    const repeated = await gateway.ask("guest", "POST", "/api/v1/execute", call);
    expect(repeated.text).not.toMatch(HIDDEN);
    expect(repeated.body).toMatchObject({ result: ARGUMENTS });
  });

  it.each([[[]], [["--json"]]])("are escaped in what the command line writes to a pipe %j", (options) => {
    const args = [MAIN, "approvals", "list", "--config", join(folder, "arsenal.yaml"), ...options];
    // The command also lists what waits at gateways that this person started.
    const env = { ...process.env, HOME: folder };
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", cwd: folder, env });
    expect(stdout + stderr).not.toMatch(HIDDEN);
    expect(stdout).toContain(String.raw`\u202e001\u202c`);
    expect(stdout).toContain(String.raw`da\u200bna`);
    if (options.length > 0) expect(stdout).toContain(String.raw`\udb40\udc68`);
  });
});

describeInBrowser("the approvals page", (browser) => {
  beforeAll(async () => {
    // A gateway serves the pages that were built when it started.
    await gateway.kill();
    await gateway.start();
  });

  it("names hidden characters where they are", async () => {
    const { page, close } = await visit(browser(), `${gateway.url}/ui/approvals`);
    await page.getByLabel("API key").fill(gateway.keyOf("approver"));
    await page.keyboard.press("Enter");
    await page.locator("article").first().waitFor();
    const shown = await page.locator("article").first().innerText();
    expect(shown).toContain("⟨U+202E⟩001⟨U+202C⟩");
    expect(shown).toContain("da⟨U+200B⟩na⟨U+2066⟩⟨U+2069⟩");
    expect(await page.content()).not.toMatch(HIDDEN);
    await close();
  });
});
