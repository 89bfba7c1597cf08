import { shortHash } from "../../../../tool/content-hash.ts";
import { toName } from "../../../../tool/normalise/slug.ts";

const MAX_NAME = 64;
const HASH_DIGITS = 12;
const PLAIN_UPSTREAM = /^[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?$/;
const PLAIN_PROMPT = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/**
 * The name by which clients know an upstream's prompt: `NAME-prompt`, with dashes inside either doubled. What does not fit is shortened, or
 * put into plain letters, and ends in a hash of both. A name depends on nothing but the two, so no other server's prompts can change it.
 */
export function toPromptName(upstream: string, prompt: string): string {
  const fits = PLAIN_UPSTREAM.test(upstream) && PLAIN_PROMPT.test(prompt);
  const plain = fits ? `${double(upstream)}-${double(prompt)}` : undefined;
  if (plain !== undefined && plain.length <= MAX_NAME) return plain;
  // No prompt's plain name has a digit after its one single dash, so what ends like this ends in a hash.
  const tail = `-0${shortHash(`${upstream}\0${prompt}`, HASH_DIGITS)}`;
  const readable = `${toName(upstream)}_${toName(prompt)}`.slice(0, MAX_NAME - tail.length).replace(/_+$/, "");
  return readable + tail;
}

/** The upstream and its prompt that a name spells out; undefined for one that ends in a hash, or is none. */
export function fromPromptName(name: string): { readonly upstream: string; readonly prompt: string } | undefined {
  const [, upstream, prompt] = /^((?:[^-]|--)+)-((?:[^-]|--)+)$/.exec(name) ?? [];
  if (upstream === undefined || prompt === undefined) return undefined;
  const parts = { upstream: upstream.replaceAll("--", "-"), prompt: prompt.replaceAll("--", "-") };
  return toPromptName(parts.upstream, parts.prompt) === name ? parts : undefined;
}

function double(text: string): string {
  return text.replaceAll("-", "--");
}
