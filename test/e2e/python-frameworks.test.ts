import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ToolArsenal } from "../../src/arsenal.ts";
import { createDemoArsenal } from "../../src/cli/demo/create-demo-arsenal.ts";
import { createPrincipal } from "../../src/guard/principal.ts";
import { read, ROOT } from "../repo/project.ts";
import { languagesMissing } from "../services/languages.ts";

let arsenal: ToolArsenal;
let url: string;
beforeAll(async () => {
  arsenal = await createDemoArsenal();
  ({ url = "" } = await arsenal.serve({ port: 0 }));
});
afterAll(() => arsenal.close());

/** The blocks of a page in a language. Those marked as not run need the framework. */
function blocksOf(page: string, language: string): readonly string[] {
  return [
    ...read(`docs/guides/integrations/${page}.md`).matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, "gm")),
  ].map(([, block = ""]) => block);
}

async function run(command: string, parameters: readonly string[]) {
  const environment = { PATH: process.env["PATH"], TOOLARSENAL_URL: url };
  const child = spawn(command, [...parameters], { cwd: ROOT, env: environment, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit") as Promise<[number]>,
  ]);
  return { status, stdout, stderr };
}

describe.each(["autogen", "crewai"])("the program at the top of docs/guides/integrations/%s.md", (page) => {
  it("prints what the page shows, in at most 25 lines", async () => {
    const [program = ""] = blocksOf(page, "ts");
    const [shown = ""] = blocksOf(page, "text");
    expect(program.trim().split("\n").length).toBeLessThanOrEqual(25);
    const options = ["--conditions=toolarsenal:source", "--input-type=module-typescript", "--eval", program];
    expect(await run(process.execPath, options)).toEqual({ status: 0, stdout: shown, stderr: "" });
  });
});

// because not every machine has Python; with CI=true its absence fails.
describe.skipIf(languagesMissing() !== undefined)("the Python programs of docs/guides/integrations", () => {
  const python = (page: string, more = "") => run("python3", ["-c", `${blocksOf(page, "python")[0] ?? ""}\n${more}`]);

  it("give AutoGen functions as data and an executor as a callback, over REST [000-10.2-autogen]", async () => {
    expect(await python("autogen")).toEqual({
      status: 0,
      stdout: expect.stringMatching(
        /^\['crm-find_customer'.*\]\n\{'content': '.*Dana Whitfield.*', 'is_error': False\}\n$/,
      ) as unknown,
      stderr: "",
    });
  });

  it("give CrewAI tools as data and what runs them, over REST [000-10.2-crewai]", async () => {
    expect(await python("crewai")).toEqual({
      status: 0,
      stdout: expect.stringMatching(/^\['crm-find_customer'.*\]\n.*Dana Whitfield.*\n$/) as unknown,
      stderr: "",
    });
  });

  it("report a wrong call as an error with its reason", async () => {
    const { stdout } = await python("autogen", 'print(execute("crm-find_customer", {"nom": 1}))');
    expect(stdout).toMatch(/'content': '.*name.*', 'is_error': True\}\n$/);
    const crewai = await python("crewai", 'print(run_tool("crm-nobody", {}))');
    expect(crewai.stdout).toMatch(/\nError: No tool "crm-nobody"/);
  });

  it("report a call that waits, and run it once it is approved, from another process", async () => {
    const call = 'print(execute("billing-process_refund", {"order_id": "1042"}))';
    const waiting = await python("autogen", call);
    expect(waiting.stdout).toMatch(/A person must approve billing\.process_refund.*'is_error': True\}\n$/);
    const [approval] = await arsenal.approvals.list();
    await arsenal.approvals.approve(approval?.id ?? "", createPrincipal({ id: "dana", roles: ["approver"] }));
    expect((await python("autogen", call)).stdout).toMatch(/refunded.*'is_error': False\}\n$/);
  });
});
