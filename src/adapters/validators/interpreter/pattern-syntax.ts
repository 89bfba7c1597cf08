/** A part of a regular expression as JSON Schema has them: ECMAScript's, read with the leniency that browsers have for old ones. */
export type Pattern =
  | { readonly kind: "characters"; readonly negated: boolean; readonly items: readonly ClassItem[] }
  | { readonly kind: "assertion"; readonly text: "^" | "$" | "\\b" | "\\B" }
  | { readonly kind: "look"; readonly inner: Pattern }
  | { readonly kind: "backreference" }
  | { readonly kind: "sequence"; readonly parts: readonly Pattern[] }
  | { readonly kind: "either"; readonly options: readonly Pattern[] }
  | { readonly kind: "repeat"; readonly inner: Pattern; readonly min: number; readonly max: number };

/** Characters from one code point to another, or a named class such as `\d` or `\p{Lu}`. */
export type ClassItem =
  | { readonly from: number; readonly to: number }
  | { readonly named: "d" | "D" | "w" | "W" | "s" | "S" }
  | { readonly property: string; readonly negated: boolean };

/** Groups in groups beyond this are no pattern that a person wrote. */
const MAX_GROUPS_DEEP = 50;

const LINE_ENDS: readonly ClassItem[] = [0x0a, 0x0d, 0x2028, 0x2029].map((end) => ({ from: end, to: end }));
const CONTROL: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, 0: 0 };

/** Reads a pattern. Throws a `SyntaxError` where it is none, or uses what is not understood here. */
export function parsePattern(source: string): Pattern {
  let at = 0;

  const fail = (what: string): never => {
    throw new SyntaxError(`${what} at ${at}`);
  };
  const peek = (text: string): boolean => source.startsWith(text, at);
  const take = (text: string): boolean => {
    if (!peek(text)) return false;
    at += text.length;
    return true;
  };
  /** What a sticky expression finds here, passed over. */
  const match = (expression: RegExp): RegExpExecArray | undefined => {
    expression.lastIndex = at;
    const found = expression.exec(source);
    if (found) at = expression.lastIndex;
    return found ?? undefined;
  };

  function either(depth: number): Pattern {
    if (depth > MAX_GROUPS_DEEP) fail("too many groups in each other");
    const options = [sequence(depth)];
    while (take("|")) options.push(sequence(depth));
    return options.length === 1 && options[0] ? options[0] : { kind: "either", options };
  }

  function sequence(depth: number): Pattern {
    const parts: Pattern[] = [];
    while (at < source.length && !peek("|") && !peek(")")) parts.push(quantified(atom(depth)));
    return parts.length === 1 && parts[0] ? parts[0] : { kind: "sequence", parts };
  }

  function quantified(inner: Pattern): Pattern {
    const found = match(/(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y);
    if (!found) return inner;
    const [, sign, low, comma, high] = found;
    if (sign !== undefined) {
      return { kind: "repeat", inner, min: sign === "+" ? 1 : 0, max: sign === "?" ? 1 : Infinity };
    }
    const min = Number(low);
    const max = comma === undefined ? min : high === "" ? Infinity : Number(high);
    if (max < min) fail("numbers out of order");
    return { kind: "repeat", inner, min, max };
  }

  function atom(depth: number): Pattern {
    if (take("^")) return { kind: "assertion", text: "^" };
    if (take("$")) return { kind: "assertion", text: "$" };
    if (take(".")) return { kind: "characters", negated: true, items: LINE_ENDS };
    if (take("[")) return characterClass();
    if (take("(")) return group(depth);
    if (take("\\")) return escape();
    if (/[*+?]/.test(source[at] ?? "") || match(/\{\d+(?:,\d*)?\}/y)) fail("nothing to repeat");
    return one(codePoint());
  }

  function group(depth: number): Pattern {
    const isLook = match(/\?<?[=!]/y) !== undefined;
    // Whether a group captures makes no difference to whether something matches.
    if (!isLook && !match(/\?:|\?<[\p{L}_$][\p{L}\p{N}_$]*>/uy) && peek("?")) fail("an unknown kind of group");
    const inner = either(depth + 1);
    if (!take(")")) fail("a group that does not end");
    return isLook ? { kind: "look", inner } : inner;
  }

  function escape(): Pattern {
    if (take("b")) return { kind: "assertion", text: "\\b" };
    if (take("B")) return { kind: "assertion", text: "\\B" };
    if (match(/[1-9]\d*|k<[^>]+>/y)) return { kind: "backreference" };
    return { kind: "characters", negated: false, items: [escapedItem()] };
  }

  /** What a backslash means that stands for characters; the same within brackets and outside of them. */
  function escapedItem(): ClassItem {
    const named = match(/[dDwWsS]/y)?.[0] as "d" | undefined;
    if (named !== undefined) return { named };
    const property = match(/([pP])\{([^}]+)\}/y);
    if (property) return { property: property[2] ?? "", negated: property[1] === "P" };
    return range(escapedCharacter());
  }

  function escapedCharacter(): number {
    const pair = match(/u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})/y);
    if (pair) return ((hex(pair[1]) & 0x3ff) << 10) + (hex(pair[2]) & 0x3ff) + 0x10000;
    const coded = match(/x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}/y);
    if (coded) return hex(coded[1] ?? coded[2] ?? coded[3]);
    const control = match(/c([a-zA-Z])/y)?.[1];
    if (control !== undefined) return control.charCodeAt(0) % 32;
    const sign = match(/[tnvfr]|0(?!\d)/y)?.[0];
    if (sign !== undefined) return CONTROL[sign] ?? 0;
    // Other dialects give more letters a meaning (\A, \Z, \h); here they have none.
    if (at >= source.length || /[\p{L}\p{N}]/u.test(source[at] ?? "")) fail("an unknown escape");
    return codePoint();
  }

  function characterClass(): Pattern {
    const negated = take("^");
    const items: ClassItem[] = [];
    while (!take("]")) {
      if (at >= source.length) fail("brackets that do not end");
      const from = classItem();
      if (!peek("-") || source[at + 1] === "]" || at + 1 >= source.length) {
        items.push(from);
        continue;
      }
      take("-");
      const to = classItem();
      if ("from" in from && "to" in to) {
        if (to.to < from.from) fail("a range out of order");
        items.push({ from: from.from, to: to.to });
        // `[\w-.]`: with a class at either side, the dash means itself.
      } else items.push(from, range(0x2d), to);
    }
    return { kind: "characters", negated, items };
  }

  function classItem(): ClassItem {
    if (!take("\\")) return range(codePoint());
    return take("b") ? range(8) : escapedItem();
  }

  function codePoint(): number {
    const point = source.codePointAt(at) ?? 0;
    at += point > 0xffff ? 2 : 1;
    return point;
  }

  const pattern = either(0);
  if (at < source.length) fail("a bracket too many");
  return pattern;
}

function one(point: number): Pattern {
  return { kind: "characters", negated: false, items: [range(point)] };
}

function range(point: number): { readonly from: number; readonly to: number } {
  return { from: point, to: point };
}

function hex(digits: string | undefined): number {
  return Number.parseInt(digits ?? "0", 16);
}
