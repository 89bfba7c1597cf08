import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium, peerProgram } from "../peers/peers.ts";

/** How a server is started, as `mcpServers` of a client's configuration has it. */
export interface ServerEntry {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** The names under which the eight stand behind one gateway. */
export type RealServer =
  | "everything"
  | "memory"
  | "filesystem"
  | "thinking"
  | "git"
  | "kubernetes"
  | "playwright"
  | "context7";

/** Eight servers that people use, as they are published. What they write goes below `folder`. */
export function realServers(folder: string): Readonly<Record<RealServer, ServerEntry>> {
  const files = join(folder, "files");
  mkdirSync(files, { recursive: true });
  const browser = chromium();
  return {
    everything: started("@modelcontextprotocol/server-everything", ["stdio"]),
    memory: started("@modelcontextprotocol/server-memory", [], { MEMORY_FILE_PATH: join(folder, "memory.jsonl") }),
    filesystem: started("@modelcontextprotocol/server-filesystem", [files]),
    thinking: started("@modelcontextprotocol/server-sequential-thinking"),
    git: started("@cyanheads/git-mcp-server", [], {
      MCP_TRANSPORT_TYPE: "stdio",
      MCP_LOG_LEVEL: "error",
      LOGS_DIR: join(folder, "git-logs"),
      GIT_SIGN_COMMITS: "false",
    }),
    // No cluster, so that its own error is the same everywhere.
    kubernetes: started("mcp-server-kubernetes", [], { KUBECONFIG: unreachableCluster(folder) }),
    playwright: started("@playwright/mcp", [
      "--headless",
      "--no-sandbox",
      "--isolated",
      "--output-dir",
      join(folder, "playwright"),
      ...(browser === undefined ? [] : ["--executable-path", browser]),
    ]),
    // No network for it either.
    context7: started("@upstash/context7-mcp", [], { NODE_USE_ENV_PROXY: "1", HTTPS_PROXY: "http://127.0.0.1:1" }),
  };
}

/** Writes how to reach a cluster that does not exist. */
function unreachableCluster(folder: string): string {
  const file = join(folder, "kubeconfig.json");
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "none",
    contexts: [{ name: "none", context: { cluster: "none", user: "nobody" } }],
    clusters: [{ name: "none", cluster: { server: "http://127.0.0.1:1" } }],
    users: [{ name: "nobody", user: {} }],
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

function started(
  name: string,
  parameters: readonly string[] = [],
  env?: Readonly<Record<string, string>>,
): ServerEntry {
  const args = [peerProgram(name).file, ...parameters];
  return { command: process.execPath, args, ...(env === undefined ? {} : { env }) };
}
