import { isUtf8 } from "node:buffer";
import type { RpcRequest } from "./protocol.ts";
import { claimedVersion } from "./envelope.ts";

type Headers = Readonly<Record<string, string>>;

/** The member of `params` that `Mcp-Name` repeats, for the methods that have one. */
const NAME_MEMBER: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
};

/** How the headers of a modern request differ from its body, in words for the client; undefined where they agree. */
export function headerMismatch({ method, params }: RpcRequest, headers: Headers): string | undefined {
  const version = claimedVersion(params);
  const member = Object.hasOwn(NAME_MEMBER, method) ? NAME_MEMBER[method] : undefined;
  const name = member === undefined ? undefined : params?.[member];
  return (
    differs("MCP-Protocol-Version", headers["mcp-protocol-version"], version) ??
    differs("Mcp-Method", headers["mcp-method"], method) ??
    (member === undefined ? undefined : differs("Mcp-Name", headers["mcp-name"], name, decodeHeader))
  );
}

function differs(
  header: string,
  sent: string | undefined,
  body: unknown,
  decode: (value: string) => string | undefined = (value) => value,
): string | undefined {
  // A body without the value is malformed; that is told by whoever reads the body.
  if (typeof body !== "string") return undefined;
  if (sent === undefined)
    return `Header mismatch: the header ${header} is missing; the body says ${JSON.stringify(body)}.`;
  const value = decode(sent);
  if (value === undefined) return `Header mismatch: the value of the header ${header} is not encoded correctly.`;
  if (value === body) return undefined;
  return `Header mismatch: the header ${header} says ${JSON.stringify(value)}, the body ${JSON.stringify(body)}.`;
}

/**
 * The text that a header value stands for: itself, or what is in `=?base64?…?=`. Undefined where it has characters a header must not have,
 * or what is wrapped is no Base64 of UTF-8.
 */
export function decodeHeader(value: string): string | undefined {
  if (!/^[\t\x20-\x7e]*$/.test(value)) return undefined;
  if (!value.startsWith("=?base64?") || !value.endsWith("?=") || value.length < 11) return value;
  const encoded = value.slice(9, -2);
  const bytes = Buffer.from(encoded, "base64");
  return bytes.toString("base64") === encoded && isUtf8(bytes) ? bytes.toString("utf8") : undefined;
}
