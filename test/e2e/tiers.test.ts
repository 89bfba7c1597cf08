import { internalsOf } from "../../src/arsenal.ts";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { ToolArsenal, type ToolArsenalConfig, type ArsenalEvent } from "../../src/index.ts";
import { sampleTools } from "../../src/testing/sample-tools.ts";
import { keptVectors } from "./kept-vectors.ts";

const ARSENAL = JSON.stringify(new URL("../../src/arsenal.ts", import.meta.url).href);

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tiers-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function open(embedder: NonNullable<ToolArsenalConfig["embedder"]>): Promise<ToolArsenal> {
  const arsenal = new ToolArsenal({ telemetry: { enabled: false }, embedder });
  onTestFinished(() => arsenal.close());
  await arsenal.add(
    sampleTools().map(({ name, description, parameters }) => ({ tool: { name, description, parameters } })),
  );
  return arsenal;
}

async function ask(arsenal: ToolArsenal, query: string): Promise<readonly (string | undefined)[]> {
  const { tier, tools } = await arsenal.retrieve({ context: { query } });
  return [tier, tools[0]?.tool.name];
}

/** Runs a program that has `ToolArsenal` at hand, in a process whose environment names no tier. */
function program(source: string): readonly string[] {
  return ["--input-type=module", "--eval", `const { ToolArsenal } = await import(${ARSENAL}); ${source}`];
}

function environment(cache: string): NodeJS.ProcessEnv {
  const { TOOLARSENAL_TIER: _, ...others } = process.env;
  return { ...others, XDG_CACHE_HOME: cache };
}

describe("the shipped tiers [000-5.2-shipped]", () => {
  it("answer at once, usually from the static one, and from the tuned one when it is ready", async () => {
    const arsenal = await open({ tier: "tuned", cache: false });
    // On a fast machine the tuned one knows so few tools before the first answer.
    const [tier, first] = await ask(arsenal, "refund the payment of a customer");
    expect(["static", "tuned"]).toContain(tier);
    expect(first).toBe("process_refund");
    await internalsOf(arsenal).settled();
    expect(await ask(arsenal, "the shopper wants their money back")).toEqual(["tuned", "process_refund"]);
    await arsenal.addTool({
      name: "get_weather",
      description: "Forecast of rain and temperature for a city.",
      parameters: { type: "object", properties: { city: { type: "string" } } },
    });
    expect((await ask(arsenal, "do I need an umbrella tomorrow"))[1]).toBe("get_weather");
    await internalsOf(arsenal).settled();
    expect(await ask(arsenal, "do I need an umbrella tomorrow")).toEqual(["tuned", "get_weather"]);
    expect(await arsenal.healthCheck()).toEqual({ store: true, embedder: true, state: true });
  });

  it.each(["lexical", "static"] as const)("go no further than %s where the configuration says so", async (tier) => {
    const arsenal = await open({ tier });
    await internalsOf(arsenal).settled();
    expect((await ask(arsenal, "send an email"))[0]).toBe(tier);
  });

  it("keep the vectors of tools in the folder named, by text and model", async () => {
    const cache = await temporaryFolder();
    const first = await open({ tier: "tuned", cache });
    await internalsOf(first).settled();
    await first.close();
    const { size } = await stat(join(cache, "toolarsenal-tuned-2.vectors"));
    const second = await open({ tier: "tuned", cache });
    await internalsOf(second).settled();
    expect(await ask(second, "send an email")).toEqual(["tuned", "send_email"]);
    await second.close();
    expect((await stat(join(cache, "toolarsenal-tuned-2.vectors"))).size).toBe(size);
  });

  it("are both there where nothing is configured, and a script that ends soon never pays for the tuned one", async () => {
    const cache = await temporaryFolder();
    const source = `
      const arsenal = new ToolArsenal();
      arsenal.register({ name: "send_mail", description: "Sends an email to people.", parameters: { type: "object" } }, () => 1);
      const { tier } = await arsenal.retrieve({ context: { query: "send mail" } });
      console.log(tier, process.getActiveResourcesInfo().includes("MessagePort"));`;
    const { stdout, stderr, status } = spawnSync(process.execPath, program(source), {
      encoding: "utf8",
      timeout: 100_000,
      env: environment(cache),
    });
    expect([stdout.trim(), stderr, status]).toEqual(["static false", "", 0]);
    await expect(stat(join(cache, "toolarsenal"))).rejects.toThrow("ENOENT");
  });

  it("go on where a killed process left off, and embed nothing twice", async () => {
    const cache = await temporaryFolder();
    const file = join(cache, "toolarsenal", "toolarsenal-tuned-2.vectors");
    const register = `
      const arsenal = new ToolArsenal({ embedder: { cache: true } });
      for (let index = 0; index < 120; index++)
        await arsenal.addTool({ name: "tool_" + index, description: "Does thing number " + index + " for people.", parameters: { type: "object" } });`;
    const child = spawn(
      process.execPath,
      program(`${register} setInterval(() => {}, 1000); await arsenal.sync({ tier: "best" }); console.log("done")`),
      {
        env: environment(cache),
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    let output = "";
    child.stdout.on("data", (chunk) => (output += String(chunk)));
    const exited = once(child, "exit");
    while (keptVectors(file).length < 16 && child.exitCode === null)
      await new Promise((resolve) => void setTimeout(resolve, 2));
    child.kill("SIGKILL");
    await exited;
    const kept = keptVectors(file);
    expect([kept.length >= 16, kept.length < 120, output]).toEqual([true, true, ""]);

    const next = spawnSync(
      process.execPath,
      program(
        `${register} await arsenal.sync({ tier: "best" }); console.log((await arsenal.retrieve({ context: { query: "thing" } })).tier); await arsenal.close()`,
      ),
      { encoding: "utf8", timeout: 100_000, env: environment(cache) },
    );
    expect([next.stdout, next.stderr]).toEqual(["tuned\n", ""]);
    expect(keptVectors(file)).toHaveLength(120);
    expect(keptVectors(file).slice(0, kept.length)).toEqual(kept);
  });

  it("say why where the tuned model's worker cannot be used, and answer from the static one", async () => {
    const events: ArsenalEvent[] = [];
    const { staticEmbedder, tunedEmbedder } = await import("../../src/adapters/embedders/index.ts");
    const away = { ...tunedEmbedder(), ready: false, healthCheck: async () => false };
    const arsenal = new ToolArsenal({
      telemetry: { enabled: false },
      tiers: [
        { name: "static", embedder: staticEmbedder() },
        { name: "tuned", embedder: away },
      ],
    });
    onTestFinished(() => arsenal.close());
    arsenal.subscribe((event) => void events.push(event));
    await arsenal.add(
      sampleTools().map(({ name, description, parameters }) => ({ tool: { name, description, parameters } })),
    );
    await internalsOf(arsenal).settled();
    expect(await ask(arsenal, "send an email")).toEqual(["static", "send_email"]);
    await arsenal.close();
    expect(events.filter(({ name }) => name === "embedder-failed").map(({ data }) => data)).toEqual([
      {
        model: "toolarsenal-tuned-2",
        tools: 0,
        message: "The embedder toolarsenal-tuned-2 is not used: it cannot be loaded",
      },
    ]);
  });
});
