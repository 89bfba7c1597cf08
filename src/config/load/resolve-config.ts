import { configInvalid } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import { checkConfig, type KeyStyle, type Origin } from "./check-config.ts";
import type { Filled } from "../../tool/shape/shape.ts";
import type { ToolArsenalConfig } from "../config.ts";
import type { CONFIG_SCHEMA } from "../schema.ts";
import { refuseContradictions } from "./contradictions.ts";
import { stateFile } from "./chosen-adapters.ts";
import { refuseTooManyServers } from "../clients/server-problem.ts";

/** A validated configuration with every default. */
export interface ResolvedConfig extends Omit<Filled<typeof CONFIG_SCHEMA>, "arsenal"> {
  /** Set only by the command line: the file of approvals if it is separate from the other state, and the command that approves. */
  readonly approvals?: { readonly file?: string; readonly command: string };
  /** The files that the configuration was read from: the configuration file, then configurations of MCP clients and env files. */
  readonly readFrom?: readonly string[];
}

/** Validates a configuration from code and fills in its defaults. */
export function resolveConfig(config: ToolArsenalConfig): ResolvedConfig {
  return foldShortForm(checkConfig(config, "camel"), "camel");
}

/** Applies the `arsenal` block, a short form of settings in other sections. It overrides their values. */
export function foldShortForm(checked: Record<string, unknown>, style: KeyStyle, origin?: Origin): ResolvedConfig {
  const { arsenal, ...config } = checked as unknown as Filled<typeof CONFIG_SCHEMA>;
  const { defaultTimeoutSeconds, maxConcurrentTools, mcpServers = [] } = arsenal;
  const shortKey = style === "snake" ? "mcp_servers" : "mcpServers";
  refuseTooManyServers(config.mcp.servers.length + mcpServers.length);
  refuseSameNames(
    [
      ...config.mcp.servers.map(({ name }, index) => ({ name, path: ["mcp", "servers", String(index), "name"] })),
      ...mcpServers.map(({ name }, index) => ({ name, path: ["arsenal", shortKey, String(index), "name"] })),
    ],
    origin,
  );
  refuseContradictions(config, style, origin);
  const file = stateFile(config.state);
  return {
    ...config,
    execution: {
      ...config.execution,
      ...(defaultTimeoutSeconds === undefined ? {} : { defaultTimeoutMs: defaultTimeoutSeconds * 1000 }),
      ...(maxConcurrentTools === undefined ? {} : { maxConcurrent: maxConcurrentTools }),
    },
    mcp: { ...config.mcp, servers: [...config.mcp.servers, ...mcpServers] },
    state: { ...config.state, ...(file === undefined ? {} : { file }) },
  };
}

function refuseSameNames(
  servers: readonly { readonly name: string; readonly path: readonly string[] }[],
  origin: Origin | undefined,
): void {
  const seen = new Set<string>();
  for (const { name, path } of servers) {
    if (seen.has(name)) {
      const at = origin?.locate(path) ?? "";
      const fix = "Give each server its own name.";
      const message = `another MCP server is already named ${showValue(name)}`;
      throw configInvalid([{ field: path.join("."), message, value: name, fix, at }]);
    }
    seen.add(name);
  }
}
