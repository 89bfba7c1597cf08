import { isPlainObject } from "../tool/json-schema.ts";
import type { Tool } from "../tool/tool.ts";
import { toAlias } from "../transcode/alias.ts";
import type { ReadCall } from "../transcode/dialect.port.ts";
import { toReadCall } from "../transcode/to-read-call.ts";

/** Matches the beginning of a call inside other text. */
const START = /\{\s*"function_call"\s*:/g;
const FENCED = /^```\w*\n([\s\S]*)\n```$/;
/** A model that writes more calls in one text is repeating itself. */
const MOST_CALLS = 16;

/**
 * Reads `{"function_call": {"name": …, "arguments": "…"}}` in a model's text. A text that contains nothing else can call any tool. Inside other text,
 * only offered tools count, because the model may be quoting something.
 */
export function readTextCalls(text: string, offered: readonly Tool[], step: number): readonly ReadCall[] {
  if (!text.includes('"function_call"')) return [];
  const trimmed = text.trim();
  const alone = functionCall(FENCED.exec(trimmed)?.[1] ?? trimmed);
  const names = new Set(offered.flatMap(({ id, name }) => [id, name, toAlias(id)]));
  const found = alone === undefined ? inside(text).filter(({ name }) => names.has(String(name))) : [alone];
  return found.map(({ name, arguments: args }, index) => {
    return { ...toReadCall({ name, arguments: args }, index), id: `text_${step}_${index + 1}`, idMadeUp: true };
  });
}

type FunctionCall = Readonly<Record<string, unknown>>;

function inside(text: string): readonly FunctionCall[] {
  const found: FunctionCall[] = [];
  let from = 0;
  for (const { index } of [...text.matchAll(START)].slice(0, MOST_CALLS)) {
    if (index < from) continue;
    const end = endOfObject(text, index);
    const call = functionCall(text.slice(index, end));
    if (call === undefined) continue;
    found.push(call);
    from = end;
  }
  return found;
}

function functionCall(text: string): FunctionCall | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isPlainObject(value) && isPlainObject(value["function_call"]) ? value["function_call"] : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the index after the object that starts at `start`: after its closing brace, or the end of the text. */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (quoted) {
      if (character === "\\") at++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === "{") depth++;
    else if (character === "}" && --depth === 0) return at + 1;
  }
  return text.length;
}
