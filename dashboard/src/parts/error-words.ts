import type { ArsenalError } from "../../../src/client/index.ts";

/** The page for the list that an operation of the REST API returns. */
const PAGES: Readonly<Record<string, string>> = {
  approvals: "Approvals",
  audit: "Audit",
  ensembles: "Servers",
  history: "Calls",
  pins: "Pins",
  tools: "Catalog",
  toolsets: "Toolsets",
};

/** Words for the REST API and the command line, with their replacements in the dashboard. */
const WORDS: readonly (readonly [RegExp, string | ((...found: string[]) => string)])[] = [
  [/\b[A-Z][^.:]* with (?:GET|POST) \/api\/v1\/(\w+)\S*/g, (_all, name = "") => `See ${PAGES[name] ?? name}.`],
  [/: (?:GET|POST) \/api\/v1\/(\w+)\/\S*/g, (_all, name = "") => ` at ${PAGES[name] ?? name}.`],
  [/Take an id from: toolarsenal pins list/g, "Reload the page."],
  [/Look at it again with: toolarsenal pins list --diff/g, "Reload the page and look at it again."],
  [/The cursor is invalid\..*$/s, "This part of the list is gone. Start again from its beginning."],
  [/The query parameter /g, "The filter "],
  [/\bconfirmation(s?)\b/g, "approval$1"],
  [/\ban ensemble\b/g, "a server"],
  [/\bensemble(s?)\b/g, "server$1"],
  [/\bprincipal(s?)\b/g, "caller$1"],
];

/** Rewrites an error for users of the dashboard. The gateway's messages are written for programs. */
export function inWords({ code, message }: ArsenalError): string {
  if (code === "TRANSPORT_FAILED" && message.startsWith("The gateway at ") && !message.includes("fell silent"))
    return "The gateway cannot be reached. Check that it runs, then reload the page.";
  if (code === "TIMEOUT" && message.includes("timeoutMs"))
    return "The gateway did not answer in time. Try again, or ask for less at once.";
  if (code === "PERMISSION_DENIED") {
    const [, role] = /lacks the role (.+?)(?: and cannot|\. )/.exec(message) ?? [];
    if (role !== undefined)
      return `You need the role ${role} for this. Ask an administrator of the gateway to give it to you.`;
  }
  return WORDS.reduce((text, [word, by]) => text.replace(word, by as string), message);
}
