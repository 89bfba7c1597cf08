/** Keys under which MCP clients list their servers. `arsenal.yaml` may contain them unchanged. */
export const CLIENT_KEYS: readonly string[] = ["mcpServers", "servers", "inputs"];

/** `maxRetries` → `max_retries` */
export function toSnake(key: string): string {
  return key.replaceAll(/[A-Z0-9]+/g, (run, offset: number) =>
    offset > 0 && /[A-Z]/.test(run[0] ?? "") ? `_${run.toLowerCase()}` : run,
  );
}

/** `api-keys` → `apiKeys` */
export function toCamel(name: string): string {
  return name.replaceAll(/[-_]([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
