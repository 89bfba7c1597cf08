import { describe, expect, it } from "vitest";
import { saysDeprecated } from "./normalise-fields.ts";

const described = (description: string): boolean => saysDeprecated({ name: "read_file", description });

describe("a tool says that it is deprecated", () => {
  it.each([
    "DEPRECATED: use read_text_file",
    "Read the complete contents of a file as text. DEPRECATED: Use read_text_file instead.",
    "Deprecated, please use browser_get_markdown instead",
    'DEPRECATED. Use "GET /api/chats/{id}/messages" instead',
    'DEPRECATED - you can set "reply_to" when sending text',
    "⚠️ DEPRECATED: Use get_top_protocols",
    "[DEPRECATED] Reads a file.",
    "**Deprecated** Reads a file.",
    "(deprecated) Reads a file.",
    "Reads a file (deprecated).",
    "Reads a file [Deprecated]",
    "Request a withdrawal (Private, Deprecated by the bank)",
    "watch individual changes to a list of Pods. deprecated: use the 'watch' parameter with a list operation instead.",
    "Reads a file.\n\nDeprecated since version 2.",
    "Reads a file.\n\n**Deprecated in favour of `read_text_file`.**",
    "Reads a file. Deprecated and replaced by read_text_file.",
    "Reads a file. DEPRECATED.",
    "Reads a file. This tool is deprecated.",
    "Reads a file. This endpoint has been deprecated and will be removed.",
    "Reads a file. NOTE: This method is now deprecated, see read_text_file.",
    "Confirms a deletion.\n\n.. deprecated:: This tool exists for old clients.",
    "Reads a file.\n@deprecated use read_text_file",
  ])("as in %j", (description) => {
    expect(described(description)).toBe(true);
  });

  it.each([
    "Finds deprecated APIs in your code.",
    "Handles deprecated APIs.",
    "Deprecated packages are listed with their replacements.",
    "Deprecated, removed and renamed APIs are listed.",
    "Deprecated-API finder for Java projects.",
    "Check if code or dependencies might be using deprecated features.",
    "Checks whether this function is deprecated.",
    "Marks a release as deprecated. Use with care.",
    "Lists API versions: current, beta, deprecated.",
    "Lists packages (outdated, unused, deprecated).",
    "Sets the state of an API. Values:\n- active: in use\n- deprecated: on its way out\n- retired: gone",
    "Sets the state of an API. Values:\nACTIVE: in use\nDEPRECATED: on its way out\nRETIRED: gone",
    "Lists APIs.\n\nArgs:\n    name: A name.\n    deprecated: Whether to include deprecated ones.",
    "Moves a user.\n\nArgs:\n    old_id (deprecated): The former id.",
    "Replaces calls of deprecated functions. Use it before an upgrade.",
    "This tool is deprecated-aware.",
    "Undeprecated: use it again.",
    "Reads a file.",
    "",
  ])("but not in %j", (description) => {
    expect(described(description)).toBe(false);
  });

  it.each<[boolean, string, string, string?]>([
    [true, "SessionsController_DEPRECATED_stop", "Stops a session."],
    [true, "read_file_deprecated", "Reads a file."],
    [true, "readFileDeprecated", "Reads a file."],
    [true, "read", "Reads a file.", "Read file (deprecated)"],
    [true, "read", "Reads a file.", "[Deprecated] Read file"],
    [false, "check_deprecated_code", "Looks for code that should be replaced."],
    [false, "list_deprecated", "Lists what should be replaced."],
    [false, "list_all_deprecated", "Lists every deprecated package."],
    [false, "DEPRECATED_CODE_REPORT", "Reports code that should be replaced."],
    [false, "read", "Reads a file.", "Find deprecated code"],
  ])("%s for the name %s, described as %j, titled %j", (expected, name, description, title) => {
    expect(saysDeprecated({ name, description, ...(title === undefined ? {} : { title }) })).toBe(expected);
  });

  it("far down in a long text is not looked for, and nothing takes long to read", () => {
    expect(described(`${"Reads a file. ".repeat(500)}DEPRECATED: use another.`)).toBe(false);
    for (const text of ["deprecated ", "[[((", ". ", "⚠️", "this tool is ", "a".repeat(10)])
      expect(described(text.repeat(200_000))).toBe(false);
  });
});
