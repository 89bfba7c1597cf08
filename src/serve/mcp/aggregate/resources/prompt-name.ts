import { RPC, RpcError } from "../../../../mcp/protocol.ts";
import type { McpUpstream } from "../../../../adapters/sources/mcp/upstream/upstream.ts";
import { showValue } from "../../../../errors/show-value.ts";
import type { Principal } from "../../../../guard/principal.ts";
import type { Listings } from "../listings.ts";
import { shortHash } from "../../../../tool/json/canonical-json.ts";
import { toName } from "../../../../tool/normalise/slug.ts";

const MAX_NAME = 64;
const HASH_DIGITS = 12;
const PLAIN_UPSTREAM = /^[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?$/;
const PLAIN_PROMPT = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/**
 * Returns the name of an upstream's prompt for clients: `NAME-prompt`, with doubled dashes inside both parts. A name that does not fit is shortened
 * or reduced to plain letters, and ends in a hash. The name depends only on the upstream and the prompt, so other servers cannot change it.
 */
export function toPromptName(upstream: string, prompt: string): string {
  const fits = PLAIN_UPSTREAM.test(upstream) && PLAIN_PROMPT.test(prompt);
  const plain = fits ? `${double(upstream)}-${double(prompt)}` : undefined;
  if (plain !== undefined && plain.length <= MAX_NAME) return plain;
  // In a plain name, the only single dash is never followed by a digit, so a name with this ending always ends in a hash.
  const tail = `-0${shortHash(`${upstream}\0${prompt}`, HASH_DIGITS)}`;
  const readable = `${toName(upstream)}_${toName(prompt)}`.slice(0, MAX_NAME - tail.length).replace(/_+$/, "");
  return readable + tail;
}

/** Returns the upstream and the prompt in a name; undefined for an invalid name and a name that ends in a hash. */
export function fromPromptName(name: string): { readonly upstream: string; readonly prompt: string } | undefined {
  const [, upstream, prompt] = /^((?:[^-]|--)+)-((?:[^-]|--)+)$/.exec(name) ?? [];
  if (upstream === undefined || prompt === undefined) return undefined;
  const parts = { upstream: upstream.replaceAll("--", "-"), prompt: prompt.replaceAll("--", "-") };
  return toPromptName(parts.upstream, parts.prompt) === name ? parts : undefined;
}

function double(text: string): string {
  return text.replaceAll("-", "--");
}

/** Finds the prompt that a client's name refers to. Throws the protocol's error if the prompt does not exist. */
export async function findPrompt(
  name: unknown,
  principal: Principal,
  parts: { readonly upstream: (name: string) => McpUpstream | undefined; readonly listings: Listings },
): Promise<{ readonly upstream: McpUpstream; readonly prompt: string }> {
  if (typeof name === "string") {
    const spelled = fromPromptName(name);
    const upstream = spelled === undefined ? undefined : parts.upstream(spelled.upstream);
    if (spelled !== undefined && upstream !== undefined) return { upstream, prompt: spelled.prompt };
    // A name that ends in a hash can be found only in the listed prompts.
    for (const listed of spelled === undefined ? await parts.listings("prompts", principal) : []) {
      const prompt = listed.item["name"];
      if (typeof prompt === "string" && toPromptName(listed.upstream.name, prompt) === name)
        return { upstream: listed.upstream, prompt };
    }
  }
  throw unknownPrompt(name);
}

/** Returns the error for a prompt that does not exist, or that the client may not see. */
export function unknownPrompt(name: unknown): RpcError {
  const message = `There is no prompt ${showValue(name)}. Use a name from prompts/list.`;
  return new RpcError({ code: RPC.invalidParams, message });
}
