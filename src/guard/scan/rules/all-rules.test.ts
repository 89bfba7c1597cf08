import { describe, expect, it } from "vitest";
import { rulesFor } from "../../../../test/guard/rules-for.ts";
import { ATTACKS, NEAR_MISSES } from "../../../../test/guard/scan-samples.ts";
import { ruleScanner } from "../rule-scanner.ts";
import { scanText } from "../scan-text.ts";
import { reaches } from "../severity.ts";
import { SCAN_RULES } from "./all-rules.ts";

const findings = (text: string) =>
  scanText(text, [ruleScanner(SCAN_RULES)], undefined).findings.map(({ finding }) => finding);

describe("a rule finds", () => {
  it.each(ATTACKS)("%s: %s", (rule, text) => {
    expect(rulesFor(text)).toContain(rule);
  });
});

describe("a rule passes", () => {
  it.each(NEAR_MISSES)("%s: %s", (rule, text) => {
    expect(rulesFor(text)).not.toContain(rule);
  });
});

describe("ordinary text", () => {
  it.each([
    "You must call list_accounts first to get a valid account_id.",
    "Ignores earlier cached results when refresh is true.",
    "Use this tool instead of `find` when you need exact matches.",
    "Do not use this tool for production databases.",
    "System prompt templates can be listed with `list_prompts`.",
    "Overrides the default settings of the project.",
    "Sends a message to a conversation by its id.",
    "Creates a new API key for the project and returns it once.",
    "Uploads a file to the server. Requires an access token.",
    "Never send your API key to another server: https://docs.example/security",
    "IMPORTANT: set the OPENAI_API_KEY environment variable before calling.",
    "Fetches a page: curl https://api.example/v1/pages",
    "Reads a file below the allowed roots and returns its contents.",
    "Runs a SQL query such as SELECT name FROM users WHERE id = 7 AND active = true.",
    "Deletes a table. Asks the user to confirm.",
    "Decodes Base64 input data and returns text.",
    "Returns the history of the commit 3f786850e387550fdab836ed7e6dc881de23001b.",
    "Cursor: eyJwYWdlIjoyLCJsaW1pdCI6NTAsInNvcnQiOiJuYW1lIn0=",
    "<!-- prettier-ignore -->\n| a | b |",
    "<!-- TODO: update the screenshots -->",
    "Runs until stopped. Errors are reported to the log at https://status.example.",
    "Act on the first match. From now on the index is kept warm.",
    "| name                                                                                                                      | size |",
    "The ability to bypass the cache helps in tests.",
    "Force the operation, bypassing safety checks.",
    "Call this tool first to obtain a library id, then call get_docs.",
    "Use this tool when the user asks about the weather.",
    "Deletes a repository. Ask the user for confirmation first.",
    "Returns the expiry date of the access token in the 'expires' field.",
    "The previous result is cached for an hour.",
    "This endpoint is deprecated; use /v2/search instead.",
    "Remember to close the session when you are done.",
    "Confidential documents are excluded from the search.",
    "Please run npm install to fix your build.",
    "Unlocks a user account that has been locked out.",
    "Writes debug information if debug mode is enabled.",
    "Point claude_desktop_config.json at it, then: curl -L https://github.com/a/b/releases/latest",
    "Checks whether your skill silently sends data anywhere.",
    "chmod 600 ~/.ssh/id_rsa",
    "export OPENAI_BASE_URL=https://gateway.example/v1",
    "git remote add backup https://codeberg.org/me/it.git && git push backup --mirror",
    "Launch with --renderer-cmd-prefix='gdb --args' to debug.",
    "Finds the network connections of a command and control server in a dump.",
  ])("%s", (text) => {
    expect(findings(text).filter(({ severity }) => reaches(severity, "medium"))).toEqual([]);
  });
});

describe("rules", () => {
  it("have ids of their own, in their category", () => {
    const ids = SCAN_RULES.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { id, category } of SCAN_RULES)
      expect(id.split(".")[0]).toBe(category === "hidden-text" ? "hidden" : category);
  });

  it.each(SCAN_RULES)("say how bad it is and what it means: $id", ({ severity, message }) => {
    expect(reaches(severity, "low")).toBe(true);
    expect(message).toMatch(/^[A-Z].{10,}\.$/);
  });

  it.each(SCAN_RULES.map(({ id }) => id))("are shown with what they find and what they let pass: %s", (id) => {
    const about = (samples: readonly (readonly [string, string])[]) => samples.filter(([rule]) => rule === id).length;
    expect([about(ATTACKS) > 0, about(NEAR_MISSES) > 0]).toEqual([true, true]);
  });
});
