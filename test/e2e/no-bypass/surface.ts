import type { Client } from "@modelcontextprotocol/client";
import { internalsOf } from "../../../src/arsenal.ts";
import { type BatchCall, ToolArsenal } from "../../../src/index.ts";
import type { Place } from "./place.ts";

/** What a caller learns of a call's end, however it is told. */
export interface Seen {
  readonly status: string;
  readonly code?: string;
  /** True where there is a confirmation to approve. */
  readonly confirmation?: true;
}

/** One way to run tools, open. */
export interface OpenSurface {
  /** Calls a tool of a namespace. */
  call(namespace: string, name: string, args: object): Promise<Seen>;
  close(): Promise<void>;
}

/** A way to run tools. */
export interface Surface {
  readonly name: string;
  open(place: Place): Promise<OpenSurface>;
  /** Set where it serves one server, so that functions cannot be called through it. */
  readonly serversOnly?: true;
  /** Set where the server itself checks arguments: the call is allowed and reaches it, and its refusal is handed on. */
  readonly leavesChecks?: true;
  /** Set if each call opens an arsenal, so that no limit can be reached by the next call. */
  readonly oneCallEach?: true;
}

/** The end of a call, as most ways report it. */
export type Result = Pick<Awaited<ReturnType<ToolArsenal["execute"]>>, "status" | "error" | "confirmationId">;
/** A call as the library takes it. */
export type Call = BatchCall["calls"][number];

/** An arsenal of the configuration whose servers have all been tried. */
export async function opened(config: string): Promise<ToolArsenal> {
  const arsenal = await ToolArsenal.fromConfig(config);
  await internalsOf(arsenal).upstreamsAttempted();
  return arsenal;
}

interface Told {
  readonly status: string;
  readonly code?: string;
  readonly confirmationId?: string;
}

/** Calls a tool of an MCP server and reads how the call ended. */
export async function calledAs(client: Client, name: string, args: object): Promise<Seen> {
  try {
    const { isError, _meta } = await client.callTool({ name, arguments: { ...args } });
    const told = _meta?.["toolarsenal/error"] as Told | undefined;
    if (told === undefined) return { status: isError === true ? "failure" : "success" };
    return toSeen({ ...told, error: { code: told.code, message: "" } } as Result);
  } catch (error) {
    const { code, message } = error as { readonly code?: number; readonly message: string };
    if (code !== -32_602) throw error;
    return { status: "failure", code: message.includes("Unknown tool") ? "TOOL_NOT_FOUND" : "ARGUMENTS_INVALID" };
  }
}

/** How a call ended, for its caller. */
export function toSeen({ status, error, confirmationId }: Result): Seen {
  return {
    status,
    ...(error === undefined ? {} : { code: error.code }),
    ...(confirmationId === undefined ? {} : { confirmation: true }),
  };
}
