import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { workflows } from "../../../src/adapters/sources/index.ts";
import { opened, type Surface, toSeen } from "./surface.ts";

/** The namespace of the workflows, whose own calls are recorded besides those of their steps. */
export const WORKFLOWS = "flows";

/** A call that is the only step of a workflow. Each call is made by a workflow of its own, so that no limit of the workflow is reached. */
export const byWorkflow: Surface = {
  name: "a workflow",
  async open({ config, folder }) {
    const arsenal = await opened(config);
    const own = join(folder, "flows");
    await mkdir(own);
    let calls = 0;
    return {
      async call(namespace, tool, args) {
        const name = `call_${calls++}`;
        const file = join(own, `${name}.yaml`);
        const flow = {
          name,
          description: "Makes one call.",
          inputs: { type: "object", properties: { text: { type: "string" } } },
          // Left out if the caller gives no text.
          steps: [{ id: "only", tool: `${namespace}.${tool}`, arguments: { text: "${{ inputs.text }}" } }],
        };
        await writeFile(file, JSON.stringify(flow));
        await arsenal.add(workflows({ name, namespace: WORKFLOWS, paths: [file] }));
        return toSeen(await arsenal.execute({ toolName: `${WORKFLOWS}.${name}`, arguments: { ...args } }));
      },
      close: () => arsenal.close(),
    };
  },
};
