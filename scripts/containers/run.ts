// Builds the shipped Dockerfile on base images made of Debian packages, runs it as a container engine would, and checks that SIGTERM and a restart
// lose nothing. Needs root, buildah, mmdebstrap and bubblewrap; no container registry and no daemon.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { freePort } from "../../test/services/redis.ts";
import { startUpstream } from "../../test/e2e/replicas/upstream.ts";
import { runCompose } from "./compose.ts";
import { prepareContainer, rightsOf } from "./container.ts";
import { drive, driveDashboard, ready, rest, startHeldCalls } from "./drive-gateway.ts";
import { eventually } from "../../test/e2e/replicas/eventually.ts";
import { createBuilder, missingTools } from "./images.ts";

const HELP = `npm run containers [-- --target gateway|stdio] [--keep] [--reuse FOLDER]

Builds a target of the Dockerfile (default: gateway), runs it, and prints each step. --keep leaves the folder with the images, and --reuse runs the
image that was built there.
`;
const IMAGE = "localhost/toolarsenal";
const CALLS = 40;
/** The call that the upstream never answers. */
const STUCK = "call 7";

const { values } = parseArgs({
  options: {
    target: { type: "string", default: "gateway" },
    keep: { type: "boolean", default: false },
    reuse: { type: "string" },
    help: { type: "boolean" },
  },
});
if (values.help === true) {
  console.log(HELP);
  process.exit();
}
const missing = missingTools();
if (missing !== undefined) {
  console.error(missing);
  process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), "containers-"));
// The container's user must reach its files.
chmodSync(folder, 0o711);
const upstream = await startUpstream("modern");
try {
  await main();
  console.log("\nNothing was lost.");
} finally {
  await upstream.close();
  if (values.keep) console.log(`Kept: ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
}
process.exit();

async function step<Value>(title: string, work: () => Promise<Value> | Value): Promise<Value> {
  const began = performance.now();
  const value = await work();
  const detail = typeof value === "string" ? `: ${value}` : "";
  console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${title}${detail}`);
  return value;
}

async function main(): Promise<void> {
  const builder = createBuilder(values.reuse ?? folder);
  if (values.reuse === undefined) {
    await step("made a base image like node:24-trixie-slim with mmdebstrap", () => builder.buildNodeBase());
    await step("made a base image like distroless/nodejs24 with mmdebstrap", () => builder.buildDistrolessBase());
    await step(`built the Dockerfile's target ${values.target} with buildah`, () =>
      builder.buildProject(IMAGE, values.target),
    );
  }
  printSizes(builder.layersOf(IMAGE));

  const root = join(folder, "root");
  await step("unpacked the image", () => builder.unpack(IMAGE, root));
  const port = await freePort();
  const config = join(folder, "config.yaml");
  writeFileSync(config, JSON.stringify(configuration(port)));
  const data = join(folder, "data");
  mkdirSync(data);
  const container = prepareContainer({ root, settings: builder.settingsOf(IMAGE), data, config });

  const writes = await container.writes("/app/a", "/etc/a", "/usr/a", "/a", "/tmp/a", "/data/a");
  await step("tried to write", () =>
    Object.entries(writes)
      .map((each) => each.join(" "))
      .join(", "),
  );
  for (const [path, outcome] of Object.entries(writes))
    assert.equal(outcome === "written", /^\/(?:data|tmp)\//.test(path), `${path}: ${outcome}`);
  const key = await step("made an operator's key in the container", async () => ({
    text: await container.cli("keys", "create", "operator", "--operator", "--json"),
  }));
  const gateway = { url: `http://127.0.0.1:${port}`, key: keyIn(key.text) };

  const first = await container.start();
  await step("started", () => ready(gateway.url, first).then(() => undefined));
  const rights = rightsOf(first.pid);
  console.log(`          user ${rights.uid}, capabilities ${rights.capabilities}, process ${rights.inside} of its own`);
  assert.deepEqual(rights, {
    uid: builder.settingsOf(IMAGE).User.split(":")[0],
    capabilities: "0".repeat(16),
    inside: "1",
  });
  await step("passed its own health check", async () => assert.equal(await container.healthCheck(port), 0));
  await step("called and searched tools over MCP and REST", () => drive(gateway, "first"));
  if (values.target === "stdio")
    await step("called a server that npx installed and started", async () => {
      const made = await rest(gateway, "/execute", { toolName: "memory.read_graph", arguments: {} });
      assert.equal(made.body["status"], "success", JSON.stringify(made.body));
    });
  await step("opened the dashboard", () => driveDashboard(gateway));

  const ids = Array.from({ length: CALLS }, (_, index) => `call ${index}`);
  const calls = await step(`started ${CALLS} calls that the upstream holds`, () =>
    startHeldCalls(gateway, upstream, ids),
  );
  first.signal("SIGTERM");
  await step("sent SIGTERM; /readyz answers 503", async () => {
    await eventually("it drains", async () => (await fetch(`${gateway.url}/readyz`)).status === 503);
  });
  for (const id of ids) if (id !== STUCK) upstream.events.emit("go", id);
  const outcomes = await step("every call ended, and the container too", async () => {
    const ended = await Promise.all(calls);
    assert.equal(await first.exited, 0, first.log());
    return ended;
  });
  const answered = outcomes.filter(({ id, said }) => said === `held ${id}`);
  const cut = outcomes.filter(({ id, said }) => said !== `held ${id}`);
  console.log(`          ${answered.length} calls answered; without the answer of its server: ${JSON.stringify(cut)}`);
  assert.deepEqual(
    cut.map(({ id }) => id),
    [STUCK],
  );

  const second = await container.start();
  await step("started again on the same /data", () => ready(gateway.url, second).then(() => undefined));
  await step(
    "the audit log is unchanged and signed",
    async () => (await container.cli("audit", "verify")).split("\n")[0],
  );
  await step("every call is in the audit log once", () => checkAudit(gateway));
  await step("a repeated call with the same idempotency key did not run again", async () => {
    const body = { toolName: "upstream.book", arguments: { id: "first rest" } };
    const again = await rest(gateway, "/execute", body, { "idempotency-key": "first" });
    assert.equal(again.body["status"], "success", JSON.stringify(again.body));
  });
  await step("called and searched tools over MCP and REST again", () => drive(gateway, "second"));
  assert.deepEqual(
    [...upstream.executed].filter(([, times]) => times !== 1),
    [],
  );
  second.signal("SIGTERM");
  await step("stopped", async () => assert.equal(await second.exited, 0, second.log()));
  if (values.target === "gateway")
    await step("ran the services of compose.yaml", () => runCompose(folder, root, builder.settingsOf(IMAGE)));
}

function configuration(port: number): object {
  const everything = { name: "memory", command: "npx", args: ["-y", "@modelcontextprotocol/server-memory"] };
  const env = { MEMORY_FILE_PATH: "/data/memory.jsonl", NODE_EXTRA_CA_CERTS: "/etc/ssl/certs/ca-certificates.crt" };
  return {
    state: { file: "/data/state.sqlite" },
    audit: { file: "/data/audit.jsonl" },
    mcp: {
      mcp_mode: "static",
      servers: [
        { name: "upstream", url: upstream.url },
        ...(values.target === "stdio" ? [{ ...everything, env }] : []),
      ],
    },
    execution: { max_concurrent: 2 * CALLS, max_concurrent_per_ensemble: 2 * CALLS },
    server: {
      port,
      drain_timeout_s: 8,
      shutdown_delay_s: 1,
      auth: { api_keys: { file: "/data/keys.json" } },
    },
  };
}

function keyIn(text: string): string {
  const [key] = /\bta_[\w-]+/.exec(text) ?? [];
  assert.ok(key, text);
  return key;
}

/** Compares the log with the calls that were made: those that were answered succeeded, and the one that was cut off says so. */
async function checkAudit(gateway: { readonly url: string; readonly key: string }): Promise<string> {
  const { status, body } = await rest(gateway, "/audit?kind=call&tool=upstream.hold&limit=200");
  assert.equal(status, 200, JSON.stringify(body));
  const records = body["records"] as readonly { readonly status: string; readonly code?: string }[];
  const counts = new Map<string, number>();
  for (const { status: ended, code } of records) {
    const outcome = code === undefined ? ended : `${ended} ${code}`;
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  }
  assert.equal(records.length, CALLS);
  assert.equal(counts.get("success"), CALLS - 1, JSON.stringify([...counts]));
  return [...counts].map(([outcome, times]) => `${times} ${outcome}`).join(", ");
}

function printSizes(layers: ReturnType<ReturnType<typeof createBuilder>["layersOf"]>): void {
  const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1).padStart(7)} MB`;
  const row = (name: string, unpacked: number, compressed: number): string =>
    `          ${name.padEnd(24)}${megabytes(unpacked)} unpacked ${megabytes(compressed)} compressed`;
  const sum = (key: "unpacked" | "compressed"): number => layers.reduce((total, layer) => total + layer[key], 0);
  console.log(row("image", sum("unpacked"), sum("compressed")));
  layers.forEach(({ unpacked, compressed }, at) => {
    const name = at === layers.length - 1 ? "the project's" : "the base's";
    console.log(row(`layer ${at + 1}, ${name}`, unpacked, compressed));
  });
}
