import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ToolArsenal } from "../../src/arsenal.ts";
import { createDemoArsenal } from "../../src/cli/demo/create-demo-arsenal.ts";

let arsenal: ToolArsenal;
let url: string;
beforeAll(async () => {
  arsenal = await createDemoArsenal();
  ({ url = "" } = await arsenal.serve({ port: 0 }));
});
afterAll(() => arsenal.close());

/** The curl commands in the shell blocks of a page. */
async function curlsOf(page: string): Promise<readonly string[]> {
  const text = await readFile(new URL(`../../docs/reference/${page}`, import.meta.url), "utf8");
  const blocks = [...text.matchAll(/```sh\n([^]*?)```/g)].map(([, block = ""]) => block.replaceAll("\\\n", ""));
  return blocks.flatMap((block) => block.split(/^(?=curl )/m).filter((command) => command.startsWith("curl ")));
}

function send(command: string): Promise<Response> {
  const [, path = "/"] = /http:\/\/127\.0\.0\.1:8080([^\s"']*)/.exec(command) ?? [];
  const headers = [...command.matchAll(/-H (["'])(.*?): (.*?)\1/g)].map(([, , name = "", value = ""]) => [name, value]);
  const [, body] = /-d '([^]*)'/.exec(command) ?? [];
  return fetch(url + path, {
    headers: Object.fromEntries(headers) as Record<string, string>,
    ...(body !== undefined && { method: "POST", body }),
  });
}

describe.each(["rest.md", "a2a.md"])("the commands of docs/reference/%s", (page) => {
  it("all succeed on the demo catalog", async () => {
    const commands = await curlsOf(page);
    expect(commands.length).toBeGreaterThan(2);
    for (const command of commands) {
      const response = await send(command);
      const text = await response.text();
      expect([command, response.status, text]).toEqual([command, 200, text]);
      expect(text).not.toMatch(/"status":"failure"|TASK_STATE_FAILED|"error":\{|^event: error/m);
    }
  });
});
