import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { folderOf } from "../../../test/e2e/script-files.ts";
import { runInMemory } from "../../../test/e2e/terminal.ts";
import { ToolArsenal } from "../../index.ts";

const FILES = {
  "arsenal.yaml": `
scripts:
  - name: Office Tools
    paths: [tools]
    env: { GREETING: "env:SCRIPTS_GREETING" }
  - { name: off, paths: [tools], disabled: true }
  - { name: nowhere, paths: [missing] }
`,
  "tools/greet.ts":
    "/** Greets somebody. */\nexport const greet = (name: string) => `${process.env.GREETING} ${name}`;",
  "tools/broken.ts": "export const broken = (x: Elsewhere) => x;",
};

describe("scripts in a configuration", () => {
  it("are tools, with paths from the file's folder and secrets by reference", async () => {
    const folder = await folderOf(FILES);
    await using arsenal = await ToolArsenal.fromConfig(join(folder, "arsenal.yaml"), {
      environment: { SCRIPTS_GREETING: "Good day," },
    });
    await arsenal.start();
    expect((await arsenal.listTools()).map(({ id, source }) => [id, source])).toEqual([
      ["office-tools.greet", "descriptor"],
    ]);
    const { result } = await arsenal.execute({ toolName: "office-tools.greet", arguments: { name: "Ada" } });
    expect(result).toBe("Good day, Ada");
  });

  it("are checked by doctor, which names the file and the line", async () => {
    const folder = await folderOf(FILES);
    const { out } = await runInMemory(["doctor"], { folder });
    expect(out).toContain(`office-tools: 1 tool from ${join(folder, "tools")}`);
    expect(out).toContain("broken.ts, line 1: broken: the type Elsewhere cannot be read");
    expect(out).toContain(`nowhere: no tool of ${join(folder, "missing")} is used`);
    expect(out).toContain("There is no such file or folder.");
  });

  it("need paths", async () => {
    const folder = await folderOf({ "arsenal.yaml": "scripts:\n  - name: office\n" });
    await expect(ToolArsenal.fromConfig(join(folder, "arsenal.yaml"))).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(/scripts.*paths/),
    });
  });
});
