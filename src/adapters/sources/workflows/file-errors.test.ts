import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createFullShop, createShop } from "../../../../test/doubles/shop.ts";
import type { ArsenalEvent } from "../../../observe/events.ts";
import { workflows } from "./settings.ts";
import { workflowsSource } from "./workflows.ts";

let folder: string;
let own: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "workflows-"))));
beforeEach(async () => void (own = await mkdtemp(join(folder, "flows-"))));
afterAll(() => rm(folder, { recursive: true }));

const write = (name: string, text: string): Promise<void> => writeFile(join(own, name), text);

const START = `name: flow
description: A workflow for tests of errors.
inputs: { type: object, properties: { order: { type: string }, count: { type: integer } } }
`;

const GOOD = `${START.replace("flow\n", "good\n")}steps: [{ id: a, tool: shop.release, arguments: { reservation: x } }]\n`;

/** Adds the files to a shop, and returns the messages of the files that are not tools. */
async function rejected(): Promise<readonly string[]> {
  const { arsenal } = createFullShop();
  const messages: string[] = [];
  arsenal.subscribe(({ data }: ArsenalEvent) => "message" in data && messages.push(String(data.message)), {
    names: ["tool-rejected"],
  });
  await arsenal.add(workflows(own));
  expect((await arsenal.listTools({ namespace: "workflows" })).map(({ name }) => name)).toEqual(["good"]);
  await arsenal.close();
  return messages;
}

const WRONG: readonly (readonly [what: string, steps: string, message: string])[] = [
  [
    "a step that does not exist",
    "steps:\n  - { id: a, tool: shop.find_order, arguments: { order: x } }\n  - id: b\n    tool: shop.release\n    arguments:\n      reservation: ${{ steps.aa.result.id }}\n",
    'flow.yaml:9:20 steps.1.arguments.reservation: is wrong at column 6: there is no step "aa". Did you mean a?',
  ],
  [
    "a member that the result of a tool does not have",
    'steps:\n  - { id: a, tool: shop.find_order, arguments: { order: x } }\n  - { id: b, tool: shop.release, arguments: { reservation: "${{ steps.a.result.totl }}" } }\n',
    'flow.yaml:6:60 steps.1.arguments.reservation: is wrong at column 15: steps.a.result has no "totl". Did you mean total?',
  ],
  [
    "an input that is not declared",
    "steps:\n  - id: a\n    tool: shop.find_order\n    arguments: { order: '${{ inputs.ordr }}' }\n",
    'flow.yaml:7:25 steps.0.arguments.order: is wrong at column 7: inputs has no "ordr". Did you mean order?',
  ],
  [
    "a value of another type than the tool takes",
    "steps:\n  - id: a\n    tool: shop.find_order\n    arguments: { order: '${{ inputs.count }}' }\n",
    "flow.yaml:7:25 steps.0.arguments.order: of shop.find_order is an integer, and must be a string. Convert it with string().",
  ],
  [
    "a value that is not one of the allowed ones",
    "steps:\n  - { id: a, tool: shop.reserve, arguments: { sku: x, speed: fst } }\n",
    'flow.yaml:5:62 steps.0.arguments.speed: of shop.reserve must be one of slow, fast. Did you mean "fast"?',
  ],
  [
    "a required argument that is missing",
    "steps:\n  - { id: a, tool: shop.find_order, arguments: {} }\n",
    "flow.yaml:5:37 steps.0.arguments.order: of shop.find_order is missing. Add order, which is required.",
  ],
  [
    "steps that wait for each other",
    "steps:\n  - { id: a, tool: shop.release, needs: [b], arguments: { reservation: x } }\n  - { id: b, tool: shop.release, needs: [a], arguments: { reservation: x } }\n",
    "flow.yaml:5:34 steps.0.needs: waits for itself: a needs b needs a. Remove one of these needs.",
  ],
  [
    "a tool that does not exist",
    "steps:\n  - { id: a, tool: shop.find_ordr, arguments: {} }\n",
    'flow.yaml:5:20 steps.0.tool: "shop.find_ordr" is not a tool. Did you mean shop.find_order?',
  ],
  [
    "an expression that is not CEL",
    "steps:\n  - { id: a, tool: shop.release, if: 'inputs.order ==', arguments: { reservation: x } }\n",
    "flow.yaml:5:38 steps.0.if: does not compile at column 14: unexpected =. Fix the expression. It is written in CEL.",
  ],
  [
    "a condition that is a text",
    "steps:\n  - { id: a, tool: shop.release, if: inputs.order, arguments: { reservation: x } }\n",
    "flow.yaml:5:38 steps.0.if: is a string, but must be true or false. Compare it with something: == null, > 0.",
  ],
  [
    "a field that is not known",
    "steps:\n  - { id: a, tool: shop.release, foreach: x, arguments: { reservation: x } }\n",
    "flow.yaml:5:43 steps.0.foreach: is not a known field. Did you mean forEach?",
  ],
  [
    "a workflow that calls itself",
    "steps:\n  - { id: a, tool: workflows.flow, arguments: {} }\n",
    "flow.yaml:5:20 steps.0.tool: calls the workflow itself. Call another tool.",
  ],
  ["YAML that cannot be read", "steps: [\n", "flow.yaml:5:1 yaml: Flow sequence in block collection"],
];

describe("a workflow file", () => {
  it.each(WRONG)("with %s is an error with file, line and fix, and the others are tools", async (_, steps, message) => {
    await write("flow.yaml", START + steps);
    await write("good.yaml", GOOD);
    const [first] = await rejected();
    expect(first).toContain(message);
  });

  it("in TypeScript is a tool, and its errors name the line of the step", async () => {
    const wrong = `interface Unused { readonly a: string }
export default {
  name: "flow",
  description: "A workflow for tests of errors.",
  steps: [
    { id: "first", tool: "shop.release", arguments: { reservation: "x" } satisfies object },
    {
      id: "second",
      tool: "shop.reserv",
      arguments: { sku: "x" },
    },
  ],
};
`;
    await write("flow.ts", wrong);
    await write("good.ts", wrong.replace('"flow"', '"good"').replace('reserv"', 'reserve"'));
    expect(await rejected()).toEqual([
      'flow.ts:9:1 steps.1.tool: "shop.reserv" is not a tool. Did you mean shop.reserve?',
    ]);
  });

  it("is not looked for in files of other programs beside it, unless a path names them", async () => {
    await write("good.yaml", GOOD);
    await write("package.json", '{ "name": "flows", "description": "Our flows.", "type": "module" }');
    await write("tsconfig.build.json", "{ // options\n}");
    await write("vite.config.ts", "throw new Error('This file was run.');");
    await write("arsenal.yaml", "server: { port: 8080 }\n");
    await write("compose.yaml", "name: shop\nservices: {}\n");
    await mkdir(join(own, "node_modules"));
    await write("node_modules/other.yaml", "name: other\n");
    expect(await rejected()).toEqual([]);
    const { arsenal } = createFullShop();
    const source = workflowsSource({ paths: [join(own, "arsenal.yaml"), join(own, "**", "*.yaml")] });
    await arsenal.add(source);
    expect(source.problems.map(({ file }) => file)).toEqual([join(own, "arsenal.yaml")]);
    await arsenal.close();
  });

  it.each([
    ["without steps", "name: flow\ndescription: A workflow for tests of errors.\n", "flow.yaml:1:1 steps: is missing"],
    ["with a misspelt key", "stepps: []\n", "flow.yaml:1:1 name: is missing"],
    [
      "without data",
      "- a\n",
      "the file is not a workflow. Start with name:, description: and steps:. To leave the file out, begin its name with _.",
    ],
  ])("%s is reported", async (_, text, message) => {
    await write("good.yaml", GOOD);
    await write("flow.yaml", text);
    expect((await rejected()).join("\n")).toContain(message);
  });

  it("becomes a tool when the last of its tools appears, and stops being one when it goes", async () => {
    await write("good.yaml", GOOD);
    const { arsenal, add } = createShop();
    expect(await arsenal.add(workflows(own))).toBe(0);
    const tools = async () => (await arsenal.listTools({ namespace: "workflows" })).map(({ name }) => name);
    add("release");
    await expect.poll(tools).toEqual(["good"]);
    await arsenal.deleteTool("release", "shop");
    await expect.poll(tools).toEqual([]);
    await arsenal.close();
  });

  it("that changes is read again, and one that breaks stays as it was", async () => {
    await write("good.yaml", GOOD);
    const { arsenal } = createFullShop();
    await arsenal.add(workflows(own));
    const described = async () => (await arsenal.getTool("good", "workflows"))?.description;
    await write("good.yaml", GOOD.replace("of errors", "of changes"));
    await expect.poll(described).toBe("A workflow for tests of changes.");
    const failed = new Promise<void>((resolve) => {
      arsenal.subscribe(() => resolve(), { names: ["tool-rejected"] });
    });
    await write("good.yaml", "steps: [");
    await failed;
    expect(await described()).toBe("A workflow for tests of changes.");
    await arsenal.close();
  });

  it("has its problems in doctor", async () => {
    await write("flow.yaml", `${START}steps: []\n`);
    const source = workflowsSource({ paths: [own] });
    const signal = new AbortController().signal;
    await source.connect({ signal });
    await source.list({ signal });
    expect(source.findings?.()).toMatchObject([
      { state: "failed", tool: "flow", message: "flow.yaml:4:1 steps: is empty. Add a step: { id, tool, arguments }." },
    ]);
    await source.disconnect();
  });
});
