import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ToolArsenal } from "../../../src/index.ts";
import { toPromptName } from "../../../src/serve/mcp/aggregate/resources/prompt-name.ts";
import { toServedUri } from "../../../src/serve/mcp/aggregate/resources/resource-uri.ts";
import { httpClient } from "./clients.ts";
import { type CallRecord, createPlace, type Place } from "./place.ts";
import { opened } from "./surface.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

const ERAS = ["legacy", "modern"] as const;
type Era = (typeof ERAS)[number];

/** How one plane names what a server has, and where it is asked. */
interface Plane {
  readonly plane: string;
  path(server: string): string;
  uri(server: string, uri: string): string;
  prompt(server: string, name: string): string;
}

const PLANES: readonly Plane[] = [
  { plane: "aggregate", path: () => "/mcp", uri: toServedUri, prompt: toPromptName },
  {
    plane: "transparent",
    path: (server) => `/mcp/upstreams/${server}`,
    uri: (_, uri) => uri,
    prompt: (_, name) => name,
  },
];

/** One request beside `tools/call`, and the tool that it is to the guard. */
interface Request {
  readonly method: string;
  readonly tool: "resources/read" | "prompts/get";
  send(client: Client, server: string, plane: Plane): Promise<object>;
  readonly eras?: readonly Era[];
}

const ARGUMENT = { name: "who", value: "" };
const REQUESTS: readonly Request[] = [
  {
    method: "resources/read",
    tool: "resources/read",
    send: (client, server, { uri }) => client.readResource({ uri: uri(server, "note://one") }),
  },
  {
    method: "prompts/get",
    tool: "prompts/get",
    send: (client, server, { prompt }) =>
      client.getPrompt({ name: prompt(server, "hello"), arguments: { who: "Dana" } }),
  },
  {
    method: "completion/complete",
    tool: "prompts/get",
    send: (client, server, { prompt }) =>
      client.complete({ ref: { type: "ref/prompt", name: prompt(server, "hello") }, argument: ARGUMENT }),
  },
  {
    method: "completion/complete",
    tool: "resources/read",
    send: (client, server, { uri }) =>
      client.complete({ ref: { type: "ref/resource", uri: uri(server, "note://{name}") }, argument: ARGUMENT }),
  },
  {
    method: "resources/subscribe",
    tool: "resources/read",
    send: (client, server, { uri }) => client.subscribeResource({ uri: uri(server, "note://one") }),
    eras: ["legacy"],
  },
];

interface Told {
  readonly code: number;
  readonly message: string;
  readonly data?: { readonly code?: string; readonly status?: string; readonly confirmationId?: string };
}

/** The error that a request ends with; undefined where it is answered. */
async function errorOf(asking: Promise<object>): Promise<Told | undefined> {
  return asking.then(
    () => undefined,
    (error: Told) => error,
  );
}

const upstreams = new Map<Era, Upstream>();
beforeAll(async () => {
  for (const era of ERAS) upstreams.set(era, await startUpstream(era));
});
afterAll(async () => {
  for (const upstream of upstreams.values()) await upstream.close();
});

const WAYS = ERAS.flatMap((server) => ERAS.flatMap((client) => PLANES.map((plane) => ({ server, client, ...plane }))));

describe.each(WAYS)("a $client client of a $server server, on the $plane plane", (way) => {
  const requests = REQUESTS.filter(({ eras }) => eras?.includes(way.client) ?? true);
  let place: Place;
  let arsenal: ToolArsenal;
  let url: string;
  const clients = new Map<string, Client>();
  const reached = (): readonly string[] => upstreams.get(way.server)?.reached ?? [];

  async function clientOf(server: string): Promise<Client> {
    const path = way.path(server);
    const client = clients.get(path) ?? (await httpClient(way.client, url + path));
    clients.set(path, client);
    return client;
  }

  async function ask({ send }: Request, server: string): Promise<object> {
    return send(await clientOf(server), server, way);
  }

  beforeAll(async () => {
    place = await createPlace(upstreams.get(way.server)?.url ?? "");
    arsenal = await opened(place.config);
    ({ url = "" } = await arsenal.serve({ port: 0, mode: "static" }));
  });

  const closed = async (): Promise<readonly CallRecord[]> => {
    for (const client of clients.values()) await client.close();
    await arsenal.close();
    return place.records();
  };

  it.each(requests)(
    "makes $method of $tool where that is allowed, more often than a tool may be called",
    async (one) => {
      const before = reached().length;
      await ask(one, "open");
      await ask(one, "open");
      // A modern server is listened to instead.
      const isListening = one.method === "resources/subscribe" && way.server === "modern";
      if (!isListening) expect(reached().slice(before)).toContain(one.method);
    },
  );

  it.each(requests)("is refused $method of $tool where the policy refuses it, and told why", async (one) => {
    const before = reached().length;
    expect(await errorOf(ask(one, "closed"))).toMatchObject({
      code: -32_003,
      message: expect.stringContaining("It is shut. (rule shut)") as string,
      data: { status: "permission_denied", code: "PERMISSION_DENIED" },
    });
    expect(reached().length).toBe(before);
  });

  it.each(requests)("waits with $method of $tool for a person where the policy says so", async (one) => {
    const before = reached().length;
    expect(await errorOf(ask(one, "waits"))).toMatchObject({
      code: -32_004,
      data: {
        status: "pending_confirmation",
        code: "CONFIRMATION_REQUIRED",
        confirmationId: expect.any(String) as string,
      },
    });
    expect(reached().length).toBe(before);
  });

  it.each(requests)("is answered $method of $tool as if it did not exist where it is hidden", async (one) => {
    const before = reached().length;
    const hidden = await errorOf(ask(one, "secret"));
    expect([-32_002, -32_602]).toContain(hidden?.code);
    expect(hidden?.data?.code).toBeUndefined();
    if (way.plane === "aggregate") {
      const missing = await errorOf(ask(one, "nobody"));
      const spelled = ({ code, message, data }: Told): string => JSON.stringify({ code, message, data });
      expect(hidden && spelled(hidden).replaceAll("secret", "nobody")).toBe(missing && spelled(missing));
    }
    expect(reached().length).toBe(before);
  });

  it("lists nothing that is hidden, and what is merely refused", async () => {
    const counts = async (server: string): Promise<readonly number[]> => {
      const client = await clientOf(server);
      const { resources } = await client.listResources();
      const { resourceTemplates } = await client.listResourceTemplates();
      const { prompts } = await client.listPrompts();
      const own = (address: string): boolean => way.plane === "transparent" || address.startsWith(way.uri(server, ""));
      return [
        resources.filter(({ uri }) => own(uri)).length,
        resourceTemplates.filter(({ uriTemplate }) => own(uriTemplate)).length,
        prompts.filter(({ name }) => name === way.prompt(server, "hello")).length,
      ];
    };
    expect(await counts("closed")).toEqual([1, 1, 1]);
    expect(await counts("secret")).toEqual([0, 0, 0]);
  });

  it("reads what a rule masks without it", async () => {
    const client = await clientOf("masked");
    const { contents } = await client.readResource({ uri: way.uri("masked", "note://one") });
    expect(JSON.stringify(contents)).not.toContain("a note");
  });

  it("leaves one record of each, under the guard's name for it", async () => {
    const records = await closed();
    const expected = (["open", "open", "closed", "waits", "secret"] as const).flatMap((server) =>
      requests.map(({ tool }) => `${server}.${tool}`),
    );
    const subscribedOnce = way.plane === "aggregate" && way.client === "legacy" ? ["open.resources/read"] : [];
    for (const id of subscribedOnce) expected.splice(expected.indexOf(id), 1);
    const counted = records.map(({ toolId }) => toolId).filter((id) => id !== "masked.resources/read");
    expect(counted.toSorted()).toEqual(expected.toSorted());
    const decisions = new Set(
      records.map(({ toolId, decision }) => `${toolId.split(".")[0]}: ${decision.effect} ${decision.rule}`),
    );
    expect([...decisions].toSorted()).toEqual([
      "closed: denied shut",
      "masked: allowed masked",
      "open: allowed undefined",
      "secret: denied not-visible",
      "waits: pending asked",
    ]);
    await place.remove();
  });
});

describe("reading resources", () => {
  const read = { toolName: "open.resources/read", arguments: { uri: "note://one" } };

  async function arsenalWith(security: ConstructorParameters<typeof ToolArsenal>[0] & object): Promise<ToolArsenal> {
    const arsenal = new ToolArsenal({ telemetry: { enabled: false }, ...security });
    await arsenal.addMcpServer({ name: "open", transport: { kind: "http", url: upstreams.get("modern")?.url ?? "" } });
    return arsenal;
  }

  it("is a call of the library too", async () => {
    await using arsenal = await arsenalWith({});
    const { status, result } = await arsenal.execute(read);
    expect({ status, result }).toMatchObject({ status: "success", result: { contents: [{ text: "a note" }] } });
  });

  it("counts for the caller's limit", async () => {
    await using arsenal = await arsenalWith({ security: { rates: { principal: 2 } } });
    await arsenal.execute(read);
    await arsenal.execute(read);
    expect((await arsenal.execute(read)).error?.code).toBe("RATE_LIMITED");
  });

  it("is refused by default in strict, and runs where it is allowed", async () => {
    await using strict = await arsenalWith({ security: { policy: "strict", pins: "changes" } });
    expect((await strict.execute(read)).error).toMatchObject({
      code: "PERMISSION_DENIED",
      message: expect.stringContaining('Add "open.resources/read" to security.allow') as string,
    });
    await using allowing = await arsenalWith({
      security: { policy: "strict", pins: "changes", allow: ["open.resources/read"] },
    });
    expect((await allowing.execute(read)).status).toBe("success");
  });

  it("is in no list, no search and no count", async () => {
    await using arsenal = await arsenalWith({});
    const ids = (await arsenal.listTools()).map(({ id }) => id);
    expect(ids).toEqual(["open.check", "open.echo"]);
    const { tools } = await arsenal.retrieve({
      context: { query: "Reads a resource of the MCP server" },
      scoreThreshold: 0,
    });
    expect(tools.filter(({ tool }) => tool.id.includes("/"))).toEqual([]);
    expect(arsenal.toolCount).toBe(2);
  });

  it("cannot be made to call a tool", async () => {
    await using arsenal = await arsenalWith({});
    const params = { name: "echo", arguments: { text: "hi" } };
    const { error } = await arsenal.execute({
      toolName: "open.mcp/request",
      arguments: { method: "tools/call", params },
    });
    expect(error?.code).toBe("ARGUMENTS_INVALID");
  });
});
