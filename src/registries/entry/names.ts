import { showValue } from "../../errors/show-value.ts";
import type { Danger } from "./danger.ts";

const NAME = /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/;
const MAX_NAME = 200;

/** Well-known publishers that attackers may imitate. */
const KNOWN_NAMESPACES: readonly string[] =
  "io.modelcontextprotocol io.github.modelcontextprotocol io.github.github com.github com.microsoft io.github.microsoft com.google com.anthropic com.openai com.stripe com.notion com.atlassian com.slack com.cloudflare com.figma app.linear io.sentry com.supabase com.vercel com.paypal com.docker com.amazonaws".split(
    " ",
  );

const KNOWN_SCOPES: readonly string[] =
  "@modelcontextprotocol @anthropic-ai @openai @microsoft @google @google-cloud @azure @stripe @cloudflare @notionhq @sentry @playwright @supabase @vercel".split(
    " ",
  );

/** Checks a server's name: its format, and whether it imitates a known publisher or an existing server. */
export function checkName(name: string, used: readonly string[]): readonly Danger[] {
  const field = "name";
  if (name.length > MAX_NAME) return [{ field, reason: `has more than ${MAX_NAME} characters` }];
  if (!NAME.test(name)) {
    const reason = `is ${showValue(name)}, which is not of the form namespace/name in plain letters, digits, dots and dashes`;
    return [{ field, reason, value: name }];
  }
  const namespace = name.slice(0, name.indexOf("/"));
  const known = [...KNOWN_NAMESPACES, ...used.map((each) => each.slice(0, each.indexOf("/")))];
  const imitated = known.includes(namespace) ? undefined : known.find((each) => looksLike(namespace, each));
  if (imitated !== undefined)
    return [{ field, reason: `has the publisher ${namespace}, which looks like ${imitated}`, value: name }];
  const twin = used.includes(name) ? undefined : used.find((each) => isDisguised(name, each));
  return twin === undefined
    ? []
    : [{ field, reason: `is ${name}, which looks like ${twin}, a server you use`, value: name }];
}

export function checkScope(identifier: string, field: string): readonly Danger[] {
  const [, scope] = /^(@[^/]+)\//.exec(identifier) ?? [];
  if (scope === undefined || KNOWN_SCOPES.includes(scope)) return [];
  const imitated = KNOWN_SCOPES.find((each) => looksLike(scope, each));
  if (imitated === undefined) return [];
  return [{ field, reason: `has the scope ${scope}, which looks like ${imitated}`, value: identifier }];
}

/** Returns true if people could mistake the text for the known one: similar characters, or one typing error. False for equal texts. */
function looksLike(text: string, known: string): boolean {
  return isDisguised(text, known) || (known.length >= 10 && isOneEditAway(text.toLowerCase(), known.toLowerCase()));
}

/** Returns true if two different texts look the same: `l` and `1`, `rn` and `m`, added dashes, other case. */
function isDisguised(text: string, known: string): boolean {
  return text !== known && skeleton(text) === skeleton(known);
}

function skeleton(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[-_.]/g, "")
    .replaceAll("rn", "m")
    .replaceAll("vv", "w")
    .replaceAll(/[1i|]/g, "l")
    .replaceAll("0", "o")
    .replaceAll("5", "s");
}

/** Returns true if one character was added, left out, replaced, or swapped with its neighbour. */
function isOneEditAway(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > 1 || one === other) return false;
  let start = 0;
  while (start < one.length && one[start] === other[start]) start++;
  const rest = (text: string, skipped: number): string => text.slice(start + skipped);
  if (one.length !== other.length)
    return one.length > other.length ? rest(one, 1) === rest(other, 0) : rest(one, 0) === rest(other, 1);
  const isSwapped = one[start] === other[start + 1] && one[start + 1] === other[start];
  return rest(one, 1) === rest(other, 1) || (isSwapped && rest(one, 2) === rest(other, 2));
}
