import type { Tool, ToolResult } from "../../../src/client/index.ts";
import { gateway } from "../gateway.ts";
import { BASE } from "../router.ts";

const MIME = "text/html;profile=mcp-app";

type Members = Readonly<Record<string, unknown>>;
const membersOf = (value: unknown): Members =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : {};

/** The user interface of a tool (MCP Apps): the address of its resource, and the server that serves it. */
export interface AppAddress {
  readonly uri: string;
  readonly server: string;
  /** The tool that reads resources of the server. */
  readonly reader: string;
}

/** Returns the address of a tool's interface. Undefined if the tool has none. */
export function appOf({ source, sourceMeta, namespace, ensemble: server = namespace }: Tool): AppAddress | undefined {
  const meta = membersOf(membersOf(sourceMeta["mcp"])["_meta"]);
  const uri = membersOf(meta["ui"])["resourceUri"] ?? meta["ui/resourceUri"];
  if (source !== "mcp" || typeof uri !== "string" || !uri.startsWith("ui://")) return undefined;
  return { uri, server, reader: `${namespace}.${server === namespace ? "" : `${server}/`}resources/read` };
}

/** An interface that is ready to be shown. */
export interface App {
  readonly html: string;
  /** The address of the frame, whose policy allows only the declared domains. */
  readonly frame: string;
  /** The version of the gateway, which interfaces may request. */
  readonly version: string;
}

/** Reads an interface, as a call of the user under policy. Rejects with the reason if it cannot be read. */
export async function readApp({ uri, reader }: AppAddress, signal: AbortSignal): Promise<App> {
  const [{ result, status, error }, { version }] = await Promise.all([
    gateway().execute({ toolName: reader, arguments: { uri }, signal }),
    gateway().info(),
  ]);
  if (status !== "success") throw new Error(error?.message ?? `Reading ${uri} ended with ${status}.`);
  const { contents } = membersOf(result);
  const content = membersOf(Array.isArray(contents) ? contents[0] : undefined);
  const { mimeType, text, blob } = content;
  if (String(mimeType).replaceAll(" ", "") !== MIME) throw new Error(`${uri} is ${String(mimeType)}, not ${MIME}.`);
  const html = typeof text === "string" ? text : decoded(String(blob ?? ""));
  const csp = membersOf(membersOf(membersOf(content["_meta"])["ui"])["csp"]);
  const domains = (["connect", "resource", "frame"] as const).flatMap((kind) => {
    const declared = csp[`${kind}Domains`];
    return Array.isArray(declared) ? declared.map((domain) => [kind, String(domain)]) : [];
  });
  return { html, frame: `${BASE}/app-frame?${new URLSearchParams(domains).toString()}`, version };
}

function decoded(base64: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)));
}

export interface ShownCall {
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly result: ToolResult;
}

/** Answers the messages of one interface. The interface gets only its own call; every other request is refused. */
export function createBridge(parts: {
  readonly app: App;
  readonly call: ShownCall;
  send(message: object): void;
  resize(height: number): void;
}): (message: unknown) => void {
  const { call, send, resize } = parts;
  const { html, version } = parts.app;
  let isSent = false;
  const notify = (method: string, params: object): void => send({ jsonrpc: "2.0", method, params });
  return (message) => {
    const { id, method, params } = membersOf(message);
    if (typeof method !== "string") return;
    if (id !== undefined) {
      send({ jsonrpc: "2.0", id, ...answerTo(method, version) });
      return;
    }
    if (method === "ui/notifications/sandbox-proxy-ready" && !isSent) {
      isSent = true;
      notify("ui/notifications/sandbox-resource-ready", { html });
    }
    if (method === "ui/notifications/initialized") {
      notify("ui/notifications/tool-input", { arguments: call.arguments });
      notify("ui/notifications/tool-result", toCallResult(call.result));
    }
    const { height } = membersOf(params);
    if (method === "ui/notifications/size-changed" && typeof height === "number") resize(height);
  };
}

function answerTo(method: string, version: string): object {
  if (method === "ping") return { result: {} };
  if (method !== "ui/initialize")
    return { error: { code: -32601, message: `The dashboard does not support ${method} of apps.` } };
  const chosen = document.documentElement.dataset["theme"];
  const theme = chosen ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const hostInfo = { name: "toolarsenal", version };
  const hostContext = { theme, displayMode: "inline", availableDisplayModes: ["inline"], platform: "web" };
  return { result: { protocolVersion: "2026-01-26", hostInfo, hostCapabilities: {}, hostContext } };
}

/** Returns the result in the server's own format. A failed call has no result, so its message is used. */
function toCallResult({ status, result, error }: ToolResult): object {
  if (Array.isArray(membersOf(result)["content"])) return membersOf(result);
  const text = error?.message ?? (typeof result === "string" ? result : JSON.stringify(result ?? null));
  return { content: [{ type: "text", text }], ...(status !== "success" && { isError: true }) };
}
