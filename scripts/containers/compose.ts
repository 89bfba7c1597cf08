import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { copyFileSync, readFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { parse } from "yaml";
import { realPostgres } from "../../test/services/postgres.ts";
import { freePort, startRedis } from "../../test/services/redis.ts";
import { prepareContainer } from "./container.ts";
import { mcp, ready, rest } from "./drive-gateway.ts";
import type { ImageSettings } from "./images.ts";

const ROOT = join(import.meta.dirname, "../..");

interface ComposeFile {
  readonly services: {
    readonly toolarsenal: {
      readonly environment: Readonly<Record<string, string>>;
      readonly deploy: { replicas: number };
    };
    readonly redis: { readonly command: readonly string[] };
  };
}

/**
 * Runs the services of compose.yaml with their settings: the gateways in containers, PostgreSQL with pgvector and Redis as processes. The proxy is left
 * out. Returns what was checked.
 */
export async function runCompose(folder: string, root: string, settings: ImageSettings): Promise<string> {
  const { services } = parse(readFileSync(join(ROOT, "compose.yaml"), "utf8")) as ComposeFile;
  const [, ...options] = services.redis.command;
  const redis = await startRedis(
    Object.fromEntries(options.flatMap((name, at) => (at % 2 === 0 ? [[name.slice(2), options[at + 1] ?? ""]] : []))),
  );
  const postgres = await realPostgres({ vector: true });
  assert.ok(postgres, "PostgreSQL with pgvector is missing. Run as root: bash scripts/ci-services");
  const database = await overTcp(await postgres.database());
  try {
    const secrets = { AGENT_TOKEN: randomBytes(24).toString("hex"), AUDIT_SECRET: randomBytes(24).toString("hex") };
    const environment: Record<string, string> = { ...secrets, DATABASE_URL: database.url, REDIS_URL: redis.url };
    assert.deepEqual(Object.keys(environment).toSorted(), Object.keys(services.toolarsenal.environment).toSorted());
    const config = join(folder, "compose.yaml");
    copyFileSync(join(ROOT, "deploy/compose/config.yaml"), config);
    const container = prepareContainer({ root, settings, data: join(folder, "compose-data"), config, environment });

    const replicas = await Promise.all(
      Array.from({ length: services.toolarsenal.deploy.replicas }, async () => {
        const port = await freePort();
        const running = await container.start("--port", String(port));
        const gateway = { url: `http://127.0.0.1:${port}`, key: secrets.AGENT_TOKEN };
        await ready(gateway.url, running);
        return { running, gateway };
      }),
    );
    for (const { gateway } of replicas) {
      const client = await mcp(gateway);
      const { tools } = await client.listTools();
      assert.ok(
        tools.some(({ name }) => name === "find_relevant_tools"),
        tools.map(({ name }) => name).join(),
      );
      await client.close();
      const { body } = await rest(gateway, "/execute", { toolName: "shop.book", arguments: {} });
      assert.equal(body["code"], "TOOL_NOT_FOUND", JSON.stringify(body));
    }
    for (const { running } of replicas) running.signal("SIGTERM");
    for (const { running } of replicas) assert.equal(await running.exited, 0, running.log());
    const [verified = ""] = (await container.cli("audit", "verify")).split("\n");
    return `${replicas.length} gateways, ${postgres.version} and Redis; one audit log: ${verified}`;
  } finally {
    database.close();
    await redis.stop();
    await postgres.remove();
  }
}

/** A test's PostgreSQL listens on a socket in a folder that the containers do not see. */
async function overTcp(url: string): Promise<{ readonly url: string; close(): void }> {
  const address = new URL(url.replace("@/", "@localhost/"));
  const socket = join(address.searchParams.get("host") ?? "", ".s.PGSQL.5432");
  const server = createServer((client) => {
    const upstream = connect(socket);
    client.pipe(upstream).pipe(client);
    client.on("error", () => upstream.destroy());
    upstream.on("error", () => client.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  address.search = "";
  address.hostname = "127.0.0.1";
  address.port = String((server.address() as AddressInfo).port);
  return { url: address.href, close: () => void server.close() };
}
