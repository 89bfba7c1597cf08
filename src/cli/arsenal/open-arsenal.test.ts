import { expect, it } from "vitest";
import { startCollector } from "../../../test/doubles/otlp-collector.ts";
import { resolveConfig } from "../../config/load/resolve-config.ts";
import { createConfiguredArsenal } from "./open-arsenal.ts";

it("shows warnings on stderr also if telemetry goes to a collector", async () => {
  const collector = await startCollector();
  let shown = "";
  const err = { isTTY: false, write: (text: string) => void (shown += text) };
  const config = resolveConfig({
    telemetry: { type: "opentelemetry", otlp: { endpoint: collector.url } },
    embedder: { tier: "lexical", cache: false },
  });
  const arsenal = createConfiguredArsenal(config, { err: err as never, environment: {}, json: false });
  arsenal.register({ name: "fail", description: "Fails." }, () => {
    throw new Error("out of paper");
  });
  await arsenal.execute({ toolName: "fail" });
  await arsenal.close();
  expect(shown).toContain("out of paper");
  expect(collector.spans().map(({ name }) => name)).toContain("execute_tool fail");
  expect(collector.logs()).toMatchObject([{ body: { stringValue: "out of paper" } }]);
  await collector.close();
});
