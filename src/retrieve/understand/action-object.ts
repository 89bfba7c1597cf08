import { listParameters } from "../../tool/json-schema.ts";
import { originalOf } from "../../tool/normalise/normalise-tool.ts";
import { remember } from "../../base/remember.ts";
import { splitWords } from "../../tool/split-words.ts";
import type { Tool } from "../../tool/tool.ts";
import { verbGroupOf, type VerbGroupName } from "./verb-groups.ts";
import { baseForms, isContentless, wordSet } from "./words.ts";

export interface RequestProfile {
  /** The groups of its verbs, the main verb first. Empty if no verb is known, as in most languages except English. */
  readonly actions: readonly VerbGroupName[];
  /** Stems of the object words, without verbs, names, numbers and filler words. */
  readonly objects: readonly string[];
  /** Words that are written like names, in lower case. */
  readonly names: readonly string[];
  /** The stems of all content words. */
  readonly words: readonly string[];
}

export interface ToolProfile {
  /** Groups of the verbs in the tool's name. If the name has none, of the verbs in its description. */
  readonly actions: ReadonlySet<VerbGroupName>;
  /** Groups of all verbs in the name and at the start of the description. */
  readonly mentioned: ReadonlySet<VerbGroupName>;
  /** Stems of the words in name, description and parameters. */
  readonly words: ReadonlySet<string>;
  /** Stems of the namespace's words, and the whole namespace as one word. */
  readonly product: ReadonlySet<string>;
}

/** Phrasal verbs, each with a synonym of one word. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/\b(?:get|getting) rid of\b/gi, "delete"],
  [/\b(?:take|throw|kick|chuck)\b(?=[^.,;:!?]{1,60}\b(?:off|out|away)\b)/gi, "delete"],
  [/\bset(?:ting)? up\b/gi, "create"],
  [/\bbring(?=[^.;:!?]{1,60}\bback\b)/gi, "restore"],
  [/\bbring(?=[^.;:!?]{1,60}\bdown\b)/gi, "download"],
  [/\btake down\b/gi, "delete"],
  [/\b(?:look|looking) (?:up|for|into)\b/gi, "find"],
  [/\b(?:shut|close) down\b/gi, "stop"],
  [/\b(?:log|sign) (?:in|out|into)\b/gi, "login"],
  [/\bsign(?:ing)? up\b/gi, "enroll"],
  [/\blet (?:\w+ ){1,3}know\b/gi, "notify"],
  [/\b(?:go|put|goes|make)\b(?=[^.,;:!?]{0,40}\blive\b)/gi, "publish"],
  [/\bgo back to\b/gi, "revert"],
  [/\bkick off\b/gi, "run"],
  [/\bcheck (?:in|out)\b/gi, "book"],
  [/\bfill (?:in|out)\b/gi, "create"],
  [/\bcarry over\b/gi, "move"],
  [/\bhand over\b/gi, "assign"],
  [/\bopen (?:a|an|another)\b/gi, "create a"],
  [/\bwrite to\b/gi, "send to"],
];

/** Words that only a verb can follow. */
const BEFORE_VERB = wordSet("to please you lets kindly don");

/** Words that a verb or a noun can follow. After other words, such as `the` or `I`, a word is a noun or describes the past. */
const BEFORE_EITHER = wordSet("and then just or but not never can could should must will be been");

/** A sentence that starts with `I` or `we` is a request if it contains one of these words. */
const WISHING = wordSet("want need like to can could please d");

/** Words that can precede the verb at the start of a sentence. */
const OPENING =
  wordSet(`please hey hi hello ok okay so now then and also just can could would will you i we want need like d ll to have let lets s us me kindly quick quickly
   help the thanks`);

const QUESTION =
  /^(?:what|which|who|whose|whom|when|where|why|how|is|are|was|were|do|does|did|has|have|any|anything|whats|hows|am)$/;

/** Verbs that only introduce a request and never name its action. */
const WRAPPING = wordSet("want need like help let know please tell give me");

const NUMBER = /^\p{N}+$/u;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const SENTENCES = /(?<=[.!?;:])\s+|\n+|,\s+(?:and |then )?/u;

interface Word {
  readonly text: string;
  readonly lower: string;
  readonly first: boolean;
}

/** Extracts a request's verbs, objects and names with rules. */
export function profileRequest(request: string): RequestProfile {
  const objects = new Set<string>();
  const names = new Set<string>();
  const words = new Set<string>();
  // Commands come first, then questions, then other verbs.
  const ordered: VerbGroupName[] = [];
  const mentioned: VerbGroupName[] = [];
  let asks = false;
  for (const sentence of request.split(SENTENCES)) {
    const parsed = wordsOfSentence(sentence);
    const opening = parsed.findIndex(({ lower }) => !OPENING.has(lower));
    const skipped = parsed.slice(0, Math.max(opening, 0)).map(({ lower }) => lower);
    const isQuestion = QUESTION.test(parsed[opening]?.lower ?? "");
    const isStatement =
      skipped.some((word) => word === "i" || word === "we") && !skipped.some((word) => WISHING.has(word));
    if (isQuestion) asks = true;
    parsed.forEach((word, at) => {
      const stem = stemOf(word.lower);
      const isName = looksLikeName(word);
      if (isName) names.add(word.lower);
      if (isContentless(word.lower) || NUMBER.test(word.lower)) return;
      words.add(stem);
      if (isName) return;
      const opens = at === opening && !isStatement && !isQuestion;
      const group = opens || isVerbPosition(parsed, at) ? groupOf(word.lower) : undefined;
      const isVerb = group !== undefined && !WRAPPING.has(word.lower);
      if (isVerb) (opens ? ordered : mentioned).push(group);
      else if (word.lower.length > 2) objects.add(stem);
    });
  }
  const asked: VerbGroupName[] =
    asks || (ordered.length + mentioned.length === 0 && request.trimEnd().endsWith("?")) ? ["get"] : [];
  const actions = [...new Set([...ordered, ...asked, ...mentioned])];
  return { actions, objects: [...objects], names: [...names], words: [...words] };
}

function wordsOfSentence(sentence: string): readonly Word[] {
  let text = sentence;
  for (const [phrase, verb] of PHRASES) text = text.replace(phrase, verb);
  return (text.match(WORD) ?? []).map((word, at) => ({ text: word, lower: word.toLowerCase(), first: at === 0 }));
}

/** A word that can also be a noun counts as a verb only in the position of a verb. */
function isVerbPosition(words: readonly Word[], at: number): boolean {
  const before = words[at - 1]?.lower ?? "";
  return BEFORE_VERB.has(before) || (BEFORE_EITHER.has(before) && !ALSO_NOUNS.has(words[at]?.lower ?? ""));
}

function looksLikeName({ text, first }: Word): boolean {
  if (/^\p{Lu}?\p{Ll}+\p{Lu}/u.test(text)) return true;
  return !first && /^\p{Lu}[\p{Ll}\p{Lu}\p{N}]+$/u.test(text) && text !== "I";
}

function groupOf(word: string): VerbGroupName | undefined {
  for (const form of baseForms(word)) {
    const group = verbGroupOf(form);
    if (group !== undefined) return group;
  }
  return undefined;
}

/** Returns a form that a word shares with its plural and its -ing and -ed forms. */
export function stemOf(word: string): string {
  if (word.length < 4) return word;
  const single = /(?:ss|us|is)$/.test(word) ? word : word.replace(/ies$/, "y").replace(/(?<=ss|sh|ch|x|zz)es$|s$/, "");
  const base = single.replace(/(?<=[aeiouy].*.)(?:ing|ed)$/, "");
  const plain = base.length < 3 ? single : base;
  return plain.length > 3
    ? plain
        .replace(/e$/, "")
        .replace(/y$/, "i")
        .replace(/([^lsz])\1$/, "$1")
    : plain;
}

/** The fields of a tool that determine its profile. */
export type ProfiledTool = Pick<
  Tool,
  "name" | "namespace" | "description" | "parameters" | "sourceName" | "sourceMeta"
>;

const DESCRIPTION_READ = 600;
const NAMESPACE_READ = 200;
const NAMESPACE_NOISE = wordSet("mcp server servers default api the my tool tools main test");

/** Extracts a tool's verbs and objects from its name, description and parameters. Cached per tool. */
export const profileTool: (tool: ProfiledTool) => ToolProfile = remember((tool) => {
  const { name, description, parameters } = tool;
  const { namespace } = originalOf(tool);
  const home = (typeof namespace === "string" ? namespace : tool.namespace)
    .slice(0, NAMESPACE_READ)
    .replace(/^@[^/]+\//, "");
  const productWords = splitWords(home).filter((word) => !NAMESPACE_NOISE.has(word));
  const nameWords = splitWords(name);
  const text = description.slice(0, DESCRIPTION_READ);
  const [head = ""] = text.split(/(?<=[.!?])\s|\n/, 1);
  const named = verbOfName(nameWords.filter((word) => !productWords.includes(word)));
  const described = verbsOfDescription(head);
  const words = new Set([...nameWords, ...splitWords(text)].map(stemOf));
  for (const parameter of listParameters(parameters)) {
    for (const word of splitWords(`${parameter.name} ${parameter.description.slice(0, 100)}`)) words.add(stemOf(word));
  }
  const joined = productWords.join("");
  return {
    actions: new Set(named.length > 0 ? named : described),
    mentioned: new Set([...named, ...described]),
    words,
    product: new Set([...productWords.map(stemOf), joined]),
  };
});

/** Verbs that are usually nouns in a tool's name: `get_blog_post` does not post. */
const ALSO_NOUNS =
  wordSet(`post order report log message comment text record note file index chart plan test review play track match rate sum star block pin label tag
   mark book charge invoice trade exchange swap host profile status info details query release build design sketch stream cast watch like vote
   hold answer call phone mail email ring alert access total copy store type load dump backup score rank study format display view list
   transfer set tip bid count measure end issue question map share search`);

/** Returns the verb of a name: the first word that can only be a verb, or else the first that can be one. */
function verbOfName(words: readonly string[]): readonly VerbGroupName[] {
  const verbs = words.filter((word) => groupOf(word) !== undefined);
  const verb = verbs.find((word, at) => !ALSO_NOUNS.has(word) || (at === 0 && word === words[0])) ?? verbs[0];
  const group = verb === undefined ? undefined : groupOf(verb);
  return group === undefined ? [] : [group];
}

/** Words that can precede a verb in a description. */
const LEADING = wordSet("and or to tool can you");

function verbsOfDescription(head: string): readonly VerbGroupName[] {
  const words = splitWords(head).slice(0, 24);
  return words.flatMap((word, at) => (at === 0 || LEADING.has(words[at - 1] ?? "") ? (groupOf(word) ?? []) : []));
}
