import { afterAll, beforeAll, expect, it } from "vitest";
import { operationsOf, ToolArsenal } from "../../src/index.ts";
import { describeInBrowser } from "./dashboard/describe-in-browser.ts";
import { barriers, visit } from "./dashboard/visit.ts";

describeInBrowser("the dashboard's page of a program", (browser) => {
  const arsenal = new ToolArsenal({ embedder: { tier: "lexical" }, telemetry: { enabled: false }, registries: [] });
  const parameters = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const;
  arsenal.register({ name: "echo", namespace: "own", description: "Repeats a text.", parameters }, ({ text }) => text);
  let url: string;
  let runId: string;
  beforeAll(async () => {
    const gateway = await arsenal.serve({ port: 0 });
    url = gateway.url ?? "";
    const code = `const input: { text: string } = { text: "hi" };\nawait own.echo(input)`;
    ({ runId } = await arsenal.runCode({ code }));
  });
  afterAll(() => arsenal.close());

  it("saves a program that worked as a tool, lists it, and removes it", async () => {
    const { page, complaints, close } = await visit(browser(), `${url}/ui/programs/${runId}`);
    await page.getByText("Save as a tool").click();
    await page.getByLabel("Name").fill("repeat");
    await page.getByLabel("Description").fill("Repeats a text through a program.");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("programs.repeat is a tool now.").waitFor();
    expect(await barriers(page)).toEqual([]);
    const ran = await arsenal.execute({ toolName: "programs.repeat", arguments: { text: "again" } });
    expect(ran).toMatchObject({ result: "again" });
    await page.goto(`${url}/ui/programs`);
    await page.locator("summary").filter({ hasText: "programs.repeat" }).waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("button", { name: "Remove repeat" }).click();
    await page.getByText("No programs are saved.").waitFor();
    expect(await operationsOf(arsenal).programs.list()).toEqual([]);
    expect(complaints).toEqual([]);
    await close();
  });
});
