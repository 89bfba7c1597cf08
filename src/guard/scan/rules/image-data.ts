import { isWithin, onlyWithin } from "../../egress/domain-bound.ts";
import { decodePercent } from "../../../tool/schema/keywords.ts";
import { toExpression } from "./phrases.ts";
import type { Rule, RuleText, Span } from "./rule.ts";

const ADDRESS = "https?://[^\\s<>()\"']{1,4000}";
/** Images with an inline address: `![alt](address)`, `<img src="address">`. */
const IMAGES = toExpression([
  `!\\[[^\\]\\n]{0,200}\\]\\( ?<?${ADDRESS}`,
  `<img\\b[^<>]{0,300}\\bsrc ?= ?["']?${ADDRESS}`,
]);
/** Images with a referenced address: `![alt][label]`, `![label][]`. */
const NAMED_IMAGES = toExpression(["!\\[[^\\]\\n]{0,200}\\]\\[[^\\]\\n]{0,100}\\]"]);
/** The definition of a referenced address: `[label]: address`. */
const DEFINITIONS = toExpression([`(?<![^\\n])[ \\t]{0,3}\\[[^\\]\\n]{1,200}\\]: ?<?${ADDRESS}`]);

/** A value of at least this length is data, whatever its form. */
const LONG_VALUE = 64;
/** A path segment of at least this length is data. Names of files and repositories are also long. */
const LONG_PART = 120;

/**
 * Finds images whose address sends data to a host that is not allowed, which happens as soon as the image is displayed. Data is plain or encoded
 * text, e-mail addresses, long numbers, and anything very long. Names, sizes, colours, versions and hashes, as in badges, are not.
 */
export function imageDataRule(allowedDomains: readonly string[] = []): Rule {
  const allowed = onlyWithin(allowedDomains);

  return {
    id: "exfiltration.image-data",
    category: "exfiltration",
    severity: "medium",
    message: "Contains an image whose address sends data to a host that is not allowed.",
    find(text) {
      const isBad = ({ start, end }: Span): boolean => {
        const written = text.text.slice(start, end);
        const url = URL.parse(written.slice(written.search(/https?:\/\//i)));
        return url !== null && !isWithin(url.hostname, allowed) && carriesData(url);
      };
      return text.all(IMAGES).find(isBad) ?? shownDefinitions(text).find(isBad);
    },
  };
}

/** Returns the definitions that images refer to. Definitions that only links refer to are not loaded automatically. */
function shownDefinitions(text: RuleText): readonly Span[] {
  const images = text.all(NAMED_IMAGES);
  if (images.length === 0) return images;
  const labels = new Set(
    images.map(({ start, end }) => {
      const [, alternative = "", label = ""] = /^!\[([^\]]*)\]\[([^\]]*)\]/.exec(text.text.slice(start, end)) ?? [];
      return (label === "" ? alternative : label).toLowerCase();
    }),
  );
  return text.all(DEFINITIONS).filter(({ start, end }) => {
    const [, label = ""] = /\[([^\]]*)\]/.exec(text.text.slice(start, end)) ?? [];
    return labels.has(label.toLowerCase());
  });
}

function carriesData(url: URL): boolean {
  const parameters = [...url.searchParams].map(([name, value]) => (value === "" ? name : value));
  if (parameters.some(isData)) return true;
  const parts = url.pathname.split("/").map((part) => decodePercent(part).replace(/\.\w{2,5}$/, ""));
  if (parts.some((part) => part.length >= LONG_PART || wordsIn(part) >= 8 || isEncodedText(part))) return true;
  return url.hostname.split(".").some(isEncodedText);
}

function isData(value: string): boolean {
  if (/^https?:\/\/\S+$/i.test(value) || /^[\w.-]+\/[\w.-]+(?:[,&][\w.-]+\/[\w.-]+){0,20}$/.test(value)) return false;
  if (isEncodedText(value) || wordsIn(value) >= 4) return true;
  // A hash or a signature is not data.
  if (/^[0-9a-f]{32,128}$/i.test(value)) return false;
  return value.length >= LONG_VALUE || /^[\w.+-]+@[\w-]+\.[\w.-]+$|^\d{15,19}$|^\s*[{[]\s*["\w]/.test(value);
}

function wordsIn(text: string): number {
  return text.split(/\s+/).filter((word) => word !== "").length;
}

/** Returns true for base64 or hexadecimal digits that encode readable text, except addresses. */
function isEncodedText(text: string): boolean {
  if (/^(?:[0-9a-f]{2}){12,}$/i.test(text)) return isReadable(Buffer.from(text, "hex"));
  if (!/^[A-Za-z0-9+/_-]{16,}={0,2}$/.test(text)) return false;
  return isReadable(Buffer.from(text.replaceAll("-", "+").replaceAll("_", "/"), "base64"));
}

function isReadable(bytes: Buffer): boolean {
  const text = bytes.toString("latin1");
  return /^[\t\n\r -~]+$/.test(text) && /[a-z]{2}/i.test(text) && !/^https?:\/\/\S+$/i.test(text);
}
