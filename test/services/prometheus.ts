import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { freePort } from "./redis.ts";

/** A Prometheus of a test's own, in a folder of its own. */
export interface PrometheusService {
  readonly url: string;
  /** Asks its HTTP API a query, and returns the values of the series in the answer. */
  query(promql: string): Promise<readonly number[]>;
  stop(): Promise<void>;
}

/** Why there is no Prometheus to test with, which is printed; undefined if there is one. Continuous integration must have it. */
export function prometheusMissing(): string | undefined {
  if (["prometheus", "promtool"].every((program) => spawnSync(program, ["--version"]).status === 0)) return undefined;
  const why = "prometheus is not installed: run scripts/ci-services";
  if (process.env["CI"] === "true") throw new Error(why);
  process.stderr.write(`Nothing is scraped by Prometheus: ${why}\n`);
  return why;
}

/** Starts a server that scrapes one address every second, with these files of rules. */
export async function startPrometheus(options: {
  readonly target: string;
  readonly rules?: readonly string[];
  /** A bearer token. */
  readonly token?: string;
}): Promise<PrometheusService> {
  const folder = mkdtempSync(join(tmpdir(), "arsenal-prometheus-"));
  const port = await freePort();
  const { host } = new URL(options.target);
  const job = {
    job_name: "toolarsenal",
    scrape_interval: "1s",
    scrape_timeout: "1s",
    static_configs: [{ targets: [host] }],
    ...(options.token !== undefined && { authorization: { credentials: options.token } }),
  };
  const file = join(folder, "prometheus.yml");
  writeFileSync(file, stringify({ rule_files: options.rules ?? [], scrape_configs: [job] }));
  const child = spawn(
    "prometheus",
    [`--config.file=${file}`, `--storage.tsdb.path=${folder}/data`, `--web.listen-address=127.0.0.1:${port}`],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const exited = once(child, "exit");
  let printed = "";
  // Read to its end: a Prometheus that cannot log any more ends.
  const ready = new Promise<void>((resolve) => {
    child.stderr.on("data", (chunk: Buffer) => {
      printed += chunk.toString();
      if (printed.includes("Server is ready to receive web requests")) resolve();
    });
  });
  const ended = exited.then(() => Promise.reject(new Error(`prometheus ended: ${printed}`)));
  ended.catch(() => {});
  await Promise.race([ready, ended]);
  const url = `http://127.0.0.1:${port}`;

  return {
    url,
    async query(promql) {
      const response = await fetch(`${url}/api/v1/query?${new URLSearchParams({ query: promql }).toString()}`);
      const answer = (await response.json()) as {
        readonly error?: string;
        readonly data?: { readonly result: readonly { readonly value: readonly [number, string] }[] };
      };
      if (answer.data === undefined) throw new Error(`${promql}: ${answer.error}`);
      return answer.data.result.map(({ value }) => Number(value[1]));
    },
    async stop() {
      child.kill("SIGKILL");
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
