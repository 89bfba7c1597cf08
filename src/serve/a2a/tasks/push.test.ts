import { createServer, type IncomingHttpHeaders } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { SendMessageRequest, Task, TaskPushNotificationConfig } from "@a2a-js/sdk";
import { afterEach, describe, expect, it } from "vitest";
import { A2A_WAYS, asking, outcomeOf } from "../../../../test/serve/a2a-clients.ts";
import { ticketArsenal } from "../../../../test/mcp/toolset-gateway.ts";
import type { ToolArsenalConfig } from "../../../config/config.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A server that others push to. */
async function receiver(
  status = 204,
): Promise<{ origin: string; received: Received[]; until(count: number): Promise<void> }> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      received.push({ headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) as never });
      response.writeHead(status).end();
      server.emit("received");
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  ends.push(() => server.close());
  const until = async (count: number): Promise<void> => {
    while (received.length < count) await once(server, "received");
  };
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received, until };
}

async function serve(a2a: ToolArsenalConfig["a2a"] = {}): Promise<{ url: string; failed: Promise<unknown> }> {
  const arsenal = ticketArsenal({ a2a });
  const gateway = await arsenal.serve({ port: 0 });
  ends.push(
    () => arsenal.close(),
    () => gateway.close(),
  );
  const failed = new Promise((resolve) => {
    arsenal.subscribe(({ name, data }) => name === "push-failed" && resolve(data));
  });
  return { url: gateway.url ?? "", failed };
}

const config = (url: string, more: Partial<TaskPushNotificationConfig> = {}): TaskPushNotificationConfig => ({
  tenant: "",
  id: "mine",
  taskId: "",
  url,
  token: "",
  authentication: undefined,
  ...more,
});

function askingWith(push: TaskPushNotificationConfig): SendMessageRequest {
  const request = asking({ tool: "billing.pay" });
  if (request.configuration) request.configuration.taskPushNotificationConfig = push;
  return request;
}

describe.each(A2A_WAYS)("push notifications, asked for over $name", ({ name, connect }) => {
  it("tell of every event of the task, in its version's form, with the credentials that were given", async () => {
    const { origin, received, until } = await receiver();
    const { url } = await serve({ pushOrigins: [origin] });
    const client = await connect(url);
    const push = config(`${origin}/hook`, {
      token: "my-token",
      authentication: { scheme: "Bearer", credentials: "my-secret" },
    });
    await client.sendMessage(askingWith(push));
    await until(4);
    for (const { headers } of received)
      expect(headers).toMatchObject({ authorization: "Bearer my-secret", "x-a2a-notification-token": "my-token" });
    const last = received.at(-1)?.body;
    if (name.endsWith("1.0"))
      expect(last).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } });
    else expect(last).toMatchObject({ kind: "task", status: { state: "completed" } });
  });

  it("can be added, read, listed and removed", async () => {
    const { url } = await serve();
    const client = await connect(url);
    const { id: taskId } = (await client.sendMessage(asking("pay"))) as Task;
    const added = await client.createTaskPushNotificationConfig(config("https://example.com/hook", { taskId }));
    expect(added).toMatchObject({ taskId, url: "https://example.com/hook" });
    const { id } = added;
    const asked = { taskId, id, tenant: "" };
    expect(await client.getTaskPushNotificationConfig(asked)).toMatchObject({ id, taskId });
    const list = { taskId, tenant: "", pageSize: 0, pageToken: "" };
    expect((await client.listTaskPushNotificationConfig(list)).configs).toHaveLength(1);
    await client.deleteTaskPushNotificationConfig(asked);
    expect((await client.listTaskPushNotificationConfig(list)).configs).toHaveLength(0);
  });

  it.each(["http://127.0.0.1:9/hook", "http://169.254.169.254/latest", "file:///etc/passwd", "nonsense"])(
    "are refused for %s",
    async (address) => {
      const { url } = await serve();
      const client = await connect(url);
      await expect(client.sendMessage(askingWith(config(address)))).rejects.toThrow(/push notification url/);
    },
  );
});

describe("a push notification that cannot be delivered", () => {
  it("is reported, and does not harm the task", async () => {
    const { origin } = await receiver(410);
    const { url, failed } = await serve({ pushOrigins: [origin] });
    const [way] = A2A_WAYS;
    const task = await (await way.connect(url)).sendMessage(askingWith(config(`${origin}/hook?key=secret`)));
    expect(outcomeOf(task).state).toBe("completed");
    expect(await failed).toEqual({ taskId: (task as Task).id, origin, attempts: 1, message: "it answered 410" });
  });
});
