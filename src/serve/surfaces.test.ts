import { describe, it } from "vitest";
import { servableOf, ToolArsenal } from "../arsenal.ts";
import { surfaceContract } from "../../test/serve/surface-contract.ts";
import { SURFACES } from "./surfaces.ts";

describe.each(Object.entries(SURFACES))("the surface %s", (_name, load) => {
  const suite = surfaceContract(async () => {
    const arsenal = new ToolArsenal({ telemetry: { enabled: false } });
    return { adapter: { create: await load(), arsenal: servableOf(arsenal) }, dispose: () => arsenal.close() };
  });
  for (const each of suite) it(each.name, each.run);
});
