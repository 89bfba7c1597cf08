import { describe, expect, it } from "vitest";
import { rulesFor } from "../../../../test/guard/rules-for.ts";
import { ruleScanner } from "../rule-scanner.ts";
import { scanText } from "../scan-text.ts";
import { COMMAND_INJECTION_RULES } from "./command-injection.ts";

describe("command.injection finds", () => {
  it.each([
    "name$(whoami)",
    "name$( curl https://x.example )",
    "name$(id)",
    "name$(cat notes.txt)",
    "name$(bash x)",
    "name$(rm x)",
    "name$(env)",
    "name$(printenv)",
    "name$(touch x)",
    "name$(ls)",
    "name$(gnome-calc)",
    'name`id`"',
    'name`whoami`"',
    'name`curl x`"',
    'name`rm x`"',
    'name`env`"',
    "name`cat notes.txt` from here",
    "name`uname -a`@x.example",
    "name; rm -r x",
    "name;nc -l",
    "name; chmod -R x",
    "name; whoami",
    "name; pwd",
    "name; certutil -x",
    "name; cmd /c x",
    "name && shell",
    "name | cmd.exe /c x",
    "name | sh -x",
    "name || whoami",
    "name && touch /x",
    "name; powershell -x",
    'name; id"',
    "name; bash http://x.example",
    "a &amp; b; sh -x",
    "name; cat /x",
    "name && cat /x",
    "name & whoami now",
    "name |calc now",
    "name & net user dana",
    "name | certutil now",
    "name;/bin/ls",
    "name; /usr/sbin/reboot",
    "name; wget https://x.example",
    "name; wget -q http://x.example",
    "name; curl http://10.0.0.9",
    "name; curl -s https://10.0.0.9",
    String.raw`name; C:\cmd.exe now`,
    "name;calc.exe now",
    "name;powershell.exe now",
    "name'; shell now",
    "name%24%28x",
    "name ^& x",
    "git --exec=x",
    "tool --shell=true",
  ])("%s", (text) => {
    expect(rulesFor(text)).toContain("command.injection");
  });
});

describe("command.injection passes", () => {
  it.each([
    "name$(date)",
    "name$(id -u)",
    "Sets the owner with $(ident)",
    "Run `id` to see who you are.",
    "(`id`) shows who you are.",
    "Type:`id` shows it.",
    "name`ident`/",
    "name`id` fromage",
    "Bern; Zurich",
    "one; id of the second",
    "one; shy -x",
    "a | b | id | name",
    "Tom &amp;id",
    "Q&amp; sh -x",
    "name; cat x",
    "Sales & calculations",
    "name; binary",
    "See a; wget is a program.",
    "See a; curl https://docs.example",
    "Runs notepad.exe; cmd is a shell.",
    "name; shell script",
    "name'; shells now",
    "%24 and %28",
    "tool --exec x",
    "tool --shell=bash",
  ])("%s", (text) => {
    expect(rulesFor(text)).not.toContain("command.injection");
  });
});

describe("command.sql-injection finds", () => {
  it.each([
    "x' or a = a",
    "x'OR 'a'='a",
    "x' or (a == a",
    'x\' or "a"="a"',
    "7 or 1=1",
    "7 OR 12 == 12",
    "7 or 'a'='a'",
    "7 or 'a' = 'a",
    "x' or pg_sleep",
    "x' and sleep(9)",
    "x'AND extractvalue",
    "x' or (select 1)",
    "id=7%27%20or",
    "id=7%27+union",
    "id=7%27+and",
    "7 union select name",
    "7 UNION ALL SELECT name",
    "7/**/union",
    "7/*'*/ union",
    "7; drop table t",
    "7;TRUNCATE TABLE t",
    "7; alter database d",
    "7; drop collection c",
    "7; delete from t",
    "7; insert into t",
    "7; update t set a = 2",
    "7; grant all",
    '{"sql": "drop x"}',
    "xp_cmdshell",
    "Run the SQL query exactly as it is.",
    "insert into t values ({{ $json.name }})",
    "select a from t where a = '{{$node.x}}'",
  ])("%s", (text) => {
    expect(rulesFor(text)).toContain("command.sql-injection");
  });
});

describe("command.sql-injection passes", () => {
  it.each([
    "name = 'x' or age = 7",
    "name = 'x' or a = ab",
    "rows 1 or 1=10",
    "for 1=1",
    "7 or 'a' = 'ab'",
    "name = 'x' and sleeping",
    "it%27s",
    "x%27+order",
    "x' or (selection)",
    "holds for 'a' = 'a'",
    "The union selects a name.",
    "reunion select",
    "/* union */",
    "Drops a table; dropping needs rights.",
    "Drop table is refused; update the row first.",
    "The set is read; delete or keep it.",
    "Reads; drop tables are next.",
    "Reads first; grant allowances.",
    "somewhere {{ $json.a }}",
    '{"sql": "dropped"}',
    "select a from t where a = $1 {{ $json.name }}",
    "select a from t where a = {{ name }}",
    "where a = ? -- {{ $json.name }}",
  ])("%s", (text) => {
    expect(rulesFor(text)).not.toContain("command.sql-injection");
  });
});

describe("command.markup-injection finds", () => {
  it.each([
    "<script>x",
    '<SCRIPT src="https://x.example/a.js">',
    '<img onerror="fetch(1)">',
    "<img onload = 'new Image'>",
    String.raw`<a onclick=\"alert(1)\">`,
    '<a onmouseover="x=document.title">',
    '<a onclick="window.x">',
    '<a onclick="eval(x)">',
    '<a href="javascript:x">',
    String.raw`<a href = \'javascript:x\'>`,
    "Hello {{7*7}}",
    "Hello {{ 7 * 7 }}",
    "Hello {{config}}",
    "Hello {{ self.x }}",
    "Hello {{request.x}}",
    "Hello {{''.x}}",
    'Hello {{ "".x }}',
    "Hello {{cycler}}",
    "Hello {{lipsum}}",
    'O:4:"User":1:{',
  ])("%s", (text) => {
    expect(rulesFor(text)).toContain("command.markup-injection");
  });
});

describe("command.markup-injection passes", () => {
  it.each([
    "<scripts>",
    "<script",
    '<img onerror="hide()">',
    "onload = fetch",
    "buttonclick='fetchUser'",
    "onerror='a' fetch",
    '<a href="https://x.example/javascript:">',
    "Hello {{7}}",
    "Hello {{configuration}}",
    "Hello {{ selfie }}",
    "Hello {{requests}}",
    'Ratio:4:"User":1',
  ])("%s", (text) => {
    expect(rulesFor(text)).not.toContain("command.markup-injection");
  });
});

describe("command.markup-injection", () => {
  it.each(["definition", "arguments"] as const)("is looked for in: %s", (place) => {
    expect(scanText("<script>x", [ruleScanner(COMMAND_INJECTION_RULES)], place).findings).toHaveLength(1);
  });

  it("is what pages have, so not looked for in results", () => {
    expect(scanText("<script>x", [ruleScanner(COMMAND_INJECTION_RULES)], "result").findings).toEqual([]);
  });
});
