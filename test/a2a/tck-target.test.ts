import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { ClientFactory } from "@a2a-js/sdk/client";
import { expect, it, onTestFinished } from "vitest";
import { asking, contentOf, outcomeOf, readEvents } from "../serve/a2a-clients.ts";

/** Starts the target as `npm run a2a:tck-target` does, and returns the address that it prints. */
async function startTarget(...options: readonly string[]): Promise<string> {
  const path = fileURLToPath(new URL("tck-target.ts", import.meta.url));
  const target = spawn(process.execPath, [path, "--port", "0", ...options], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(async () => {
    target.kill("SIGTERM");
    if (target.exitCode === null) await once(target, "exit");
  });
  const [url] = (await once(createInterface({ input: target.stdout }), "line")) as [string];
  return url;
}

it("does what the compatibility kit asks for by the id of a message", async () => {
  const client = await new ClientFactory().createFromUrl(await startTarget());
  const asked = await client.sendMessage(asking("", { messageId: "tck-input-required-1" }));
  expect(outcomeOf(asked).state).toBe("input_required");
  const { id: taskId } = asked as { readonly id: string };
  const done = await client.sendMessage(asking("", { messageId: "tck-complete-task-1", taskId }));
  expect(outcomeOf(done)).toMatchObject({ state: "completed", said: ["Hello from TCK"] });
  const message = await client.sendMessage(asking("", { messageId: "tck-message-response-1" }));
  expect("parts" in message && contentOf(message.parts)).toEqual(["Direct message response"]);
  const events = await readEvents(client.sendMessageStream(asking("", { messageId: "tck-stream-artifact-chunked-1" })));
  expect(events).toEqual(["task submitted", "working", 'artifact "chunk-1 "', 'artifact "chunk-2"', "completed"]);
});

it("shows the kit of 0.3 a card that it can read", async () => {
  const url = await startTarget("--version", "0.3");
  const card = await (await fetch(`${url}/.well-known/agent-card.json`)).json();
  expect(card).toMatchObject({ protocolVersion: "0.3.0", url: `${url}/a2a`, preferredTransport: "JSONRPC" });
});
