import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isArsenalError } from "../../errors/arsenal-error.ts";
import { createSecrets, type Secrets } from "./secrets.ts";

const USE = { scope: "github", field: "headers.Authorization" };
const ANN = { id: "ann", tenant: "acme" };
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "secrets-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function file(name: string, content: string, mode = 0o600): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  await chmod(path, mode);
  return path;
}

async function failure(asked: Promise<unknown>): Promise<string> {
  const error: unknown = await asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isArsenalError(error) || error.code !== "CONFIG_INVALID") throw error;
  expect(error.details).toMatchObject({ field: USE.field, beforeSend: true });
  return error.message.replaceAll(folder, "");
}

describe("a secret in the environment", () => {
  it("is looked up when it is asked for, not before", async () => {
    const environment: Record<string, string> = {};
    const secrets = createSecrets({ environment });
    environment["TOKEN"] = "first-one";
    const first = await secrets.resolve("env:TOKEN", USE);
    environment["TOKEN"] = "second-one";
    expect([first, await secrets.resolve("env:TOKEN", USE)]).toEqual(["first-one", "second-one"]);
  });

  it("that is not there is named with its server and what to do", async () => {
    expect(await failure(createSecrets({ environment: { TOKEN: "" } }).resolve("env:TOKEN", USE))).toBe(
      'headers.Authorization of "github" refers to env:TOKEN: the variable is not set. Set TOKEN.',
    );
  });

  it("is not found in what every object has", async () => {
    await failure(createSecrets({ environment: {} }).resolve("env:constructor", USE));
  });
});

describe("a secret in a file", () => {
  it("is read without the end of its line, each time", async () => {
    const path = await file("token", "first line\nsecond\n");
    const secrets = createSecrets();
    const first = await secrets.resolve(`file:${path}`, USE);
    await writeFile(path, "another\r\n");
    expect([first, await secrets.resolve(`file:${path}`, USE)]).toEqual(["first line\nsecond", "another"]);
  });

  it.each([0o640, 0o604, 0o610, 0o602])("that others may touch (%o) is refused", async (mode) => {
    const path = await file(`open-${mode}`, "never-shown", mode);
    const message = await failure(createSecrets().resolve(`file:${path}`, USE));
    expect(message).toBe(
      `headers.Authorization of "github" refers to file:/open-${mode}: the file has the rights 0${mode.toString(8)}, so that others can read it. Run chmod 600 on it.`,
    );
  });

  it("is refused where it is missing, empty, too long or no file", async () => {
    const secrets = createSecrets();
    await symlink(await file("linked", "behind a link"), join(folder, "link"));
    const paths = [join(folder, "absent"), await file("empty", "\n"), await file("long", "x".repeat(65_537)), folder];
    const messages = await Promise.all(paths.map((path) => failure(secrets.resolve(`file:${path}`, USE))));
    expect(messages.map((message) => message.slice(message.indexOf(": ") + 2))).toEqual([
      "the file cannot be opened (ENOENT). Write the secret into it, readable by this user.",
      "the file is empty. Write the secret into it.",
      "the file is longer than 65536 bytes. Name the secret's own file.",
      "it is not a regular file. Name a file.",
    ]);
    expect(await secrets.resolve(`file:${await file("full", "x".repeat(65_536))}`, USE)).toHaveLength(65_536);
    expect(await secrets.resolve(`file:${folder}/link`, USE)).toBe("behind a link");
  });
});

// because Windows has no modes to check.
describe.skipIf(process.platform === "win32")("a secret in a file of a POSIX system", () => {
  it("is not waited for where nobody writes into a pipe", async () => {
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", ["-m", "600", pipe]);
    expect(await failure(createSecrets().resolve(`file:${pipe}`, USE))).toContain("it is not a regular file");
  });

  it("is looked for from the home folder on where its path begins with ~", async () => {
    const path = relative(homedir(), await file("from-home", "found from home"));
    expect(await createSecrets().resolve(`file:~/${path}`, USE)).toBe("found from home");
  });
});

// because the stand-in programs are shell scripts.
describe.skipIf(process.platform === "win32")("a secret in the keychain", () => {
  /** Stands in for the system's program: counts how often it is asked, and repeats what it was asked. */
  async function keychain(name: string, script: string): Promise<Readonly<Record<string, string>>> {
    const bin = await mkdtemp(join(folder, "bin-"));
    await writeFile(join(bin, name), `#!/bin/sh\necho asked >> "${bin}/log"\n${script}\n`, { mode: 0o700 });
    return { PATH: `${bin}:/usr/bin:/bin`, LOG: join(bin, "log") };
  }

  it("is asked for by name: secret-tool on Linux, security on macOS", async () => {
    const linux = await keychain("secret-tool", `printf '%s|' "$@"`);
    const macos = await keychain("security", `printf '%s|' "$@"; echo`);
    const answers = await Promise.all([
      createSecrets({ environment: linux, platform: "linux" }).resolve("keychain:git hub/a/$(id)", USE),
      createSecrets({ environment: macos, platform: "darwin" }).resolve("keychain:github/ann", USE),
    ]);
    expect(answers).toEqual(["lookup|service|git hub|account|a/$(id)|", "find-generic-password|-s|github|-a|ann|-w|"]);
  });

  it("is asked for once a minute", async () => {
    const environment = await keychain("secret-tool", `wc -l < "$LOG" | sed 's/^ */number /'`);
    let now = 0;
    const secrets = createSecrets({ environment, platform: "linux", clock: { now: () => now } });
    const ask = (): Promise<string> => secrets.resolve("keychain:a/b", USE);
    const first = [await ask(), await ask()];
    now = 60_000;
    expect([...first, await ask()]).toEqual(["number 1", "number 1", "number 2"]);
  });

  it("is kept for each entry by itself, with all its lines", async () => {
    const environment = await keychain("secret-tool", `echo "$3 of"; echo "$5"`);
    const secrets = createSecrets({ environment, platform: "linux", clock: { now: () => 0 } });
    const references = ["keychain:a/b", "keychain:a/c", "keychain:b/c"];
    const found: string[] = [];
    for (const reference of references) found.push(await secrets.resolve(reference, USE));
    expect(found).toEqual(["a of\nb", "a of\nc", "b of\nc"]);
  });

  it("is no longer waited for once the call is given up", async () => {
    const environment = await keychain("secret-tool", "exec sleep 60");
    const reason = new Error("given up");
    const secrets = createSecrets({ environment, platform: "linux" });
    const controller = new AbortController();
    const asked = secrets.resolve("keychain:a/b", { ...USE, signal: controller.signal });
    controller.abort(reason);
    await expect(asked).rejects.toBe(reason);
  });

  it("that is not there, or of a system that has none, is told with what to do", async () => {
    const absent = await keychain("secret-tool", "echo never-shown; exit 1");
    const absentOnMac = await keychain("security", "exit 44");
    const broken = await keychain("secret-tool", "kill -9 $$");
    const messages = await Promise.all(
      [
        createSecrets({ environment: absent, platform: "linux" }),
        createSecrets({ environment: absentOnMac, platform: "darwin" }),
        createSecrets({ environment: broken, platform: "linux" }),
        createSecrets({ environment: { PATH: "/nowhere" }, platform: "linux" }),
        createSecrets({ environment: {}, platform: "win32" }),
      ].map((secrets) => failure(secrets.resolve("keychain:a/b", USE))),
    );
    const start = 'headers.Authorization of "github" refers to keychain:a/b: ';
    expect(messages).toEqual([
      `${start}the keychain has no entry. Store it: secret-tool store --label NAME service SERVICE account ACCOUNT`,
      `${start}the keychain has no entry. Store it: security add-generic-password -s SERVICE -a ACCOUNT -w`,
      `${start}secret-tool gave no answer. Unlock the keychain, or try: secret-tool store --label NAME service SERVICE account ACCOUNT`,
      `${start}secret-tool is not installed. Install secret-tool.`,
      `${start}no keychain is supported on win32. Use env: or file: instead.`,
    ]);
  });
});

describe("a secret for each caller", () => {
  it("is found under the caller's name and tenant", async () => {
    await mkdir(join(folder, "acme"));
    await file("acme/ann", "that of ann");
    await file("acme/_default", "that of nobody");
    const secrets = createSecrets({ environment: { KEY_ann: "key of ann", KEY__default: "key of nobody" } });
    const reference = `file:${folder}/acme/{principal}` as const;
    expect([
      await secrets.resolve(`file:${folder}/{tenant}/{principal}`, { ...USE, principal: ANN }),
      await secrets.resolve(reference, USE),
      await secrets.resolve("env:KEY_{principal}", { ...USE, principal: ANN }),
      await secrets.resolve("env:KEY_{principal}", USE),
    ]).toEqual(["that of ann", "that of nobody", "key of ann", "key of nobody"]);
  });

  it.each(["..", ".", "../acme/ann", "/acme/ann", "acme/ann", "_default", "%2e%2e", "-x", "ann\0"])(
    "cannot be another's by the name %j",
    async (id) => {
      await mkdir(join(folder, "own"), { recursive: true });
      await file("own/_default", "that of nobody");
      await file("outside", "outside");
      const secrets = createSecrets();
      const asked = secrets.resolve(`file:${folder}/own/{principal}`, { ...USE, principal: { id } });
      expect(await failure(asked)).toContain(`refers to file:/own/{principal} for ${JSON.stringify(id)}: `);
    },
  );

  it("is told without a name where nobody asked, or where it is the same for everybody", async () => {
    const secrets = createSecrets({ environment: {} });
    const asked = [secrets.resolve("env:T_{principal}", USE), secrets.resolve("env:TOKEN", { ...USE, principal: ANN })];
    expect(await Promise.all(asked.map(failure))).toEqual([
      'headers.Authorization of "github" refers to env:T_{principal}: the variable is not set. Set T_{principal}.',
      'headers.Authorization of "github" refers to env:TOKEN: the variable is not set. Set TOKEN.',
    ]);
  });

  it("is refused for a name that is none, and where two callers could share one", async () => {
    const secrets = createSecrets({ environment: { T_a_b: "a secret" } });
    const asked = [
      secrets.resolve("env:T_{principal}", { ...USE, principal: { id: "" } }),
      secrets.resolve("env:T_{principal}", { ...USE, principal: { id: "\uD800" } }),
      secrets.resolve("env:T_{tenant}_{principal}", { ...USE, principal: { id: "b", tenant: "a" } }),
    ];
    const messages = await Promise.all(asked.map(failure));
    const start = 'headers.Authorization of "github" refers to env:T_';
    const nameless = "depends on the caller, whose name is empty or not a string. Fix the reference.";
    expect(messages).toEqual([
      `${start}{principal} for "": ${nameless}`,
      `${start}{principal} for "\\ud800": ${nameless}`,
      `${start}{tenant}_{principal} for "b": has two names without / between them, so that two callers could share one secret. Fix the reference.`,
    ]);
  });
});

describe("a text with secrets", () => {
  const secrets: Secrets = createSecrets({ environment: { TOKEN: "s3cr3t-value", USER: "an-user" } });

  it.each([
    ["env:TOKEN", "s3cr3t-value"],
    ["Bearer ${secret:env:TOKEN}", "Bearer s3cr3t-value"],
    ["${secret:env:USER}:${secret:env:TOKEN}@", "an-user:s3cr3t-value@"],
    ["Bearer env:TOKEN", "Bearer env:TOKEN"],
    ["file:./dev.db", "file:./dev.db"],
    ["file:///data/dev.db", "file:///data/dev.db"],
    ["env:not a name", "env:not a name"],
    ["keychain:", "keychain:"],
    ["plain", "plain"],
  ])("%s is %s", async (text, filled) => {
    expect(await secrets.fill(text, USE)).toBe(filled);
  });

  it("is refused where what stands inside is no reference", async () => {
    const messages = await Promise.all(
      ["x ${secret:never-shown}", "x ${secret:env:{other}}", "${secret:env:USER} ${secret:env:TOKEN"].map((text) =>
        failure(secrets.fill(text, USE)),
      ),
    );
    expect(new Set(messages)).toEqual(
      new Set([
        'headers.Authorization of "github" is not a reference to a secret. Write headers.Authorization: "env:NAME", "file:/WHOLE/PATH" or "keychain:SERVICE/ACCOUNT".',
      ]),
    );
  });

  it("does not look for references in a secret", async () => {
    const nested = createSecrets({ environment: { A: "${secret:env:B}", B: "other-secret" } });
    expect(await nested.fill("x ${secret:env:A}", USE)).toBe("x ${secret:env:B}");
  });

  it("takes a function that fetches the secret, and refuses what fetches none", async () => {
    expect(await secrets.fill(async () => "fetched-secret", USE)).toBe("fetched-secret");
    expect(secrets.redactor.text("fetched-secret")).toBe("[redacted]");
    const nothing = [() => "", () => 7 as unknown as string].map((fetch) => failure(secrets.fill(fetch, USE)));
    const message =
      'headers.Authorization of "github" is a function that returned no secret. Let it return a nonempty text.';
    expect(await Promise.all(nothing)).toEqual([message, message]);
  });

  it("gives a function the signal of the call, where there is one", async () => {
    const { signal } = new AbortController();
    const given: unknown[] = [];
    const fetch = (options: unknown): string => `fetched-${given.push(options)}`;
    await secrets.resolve(fetch, { ...USE, signal });
    await secrets.resolve(fetch, USE);
    expect(given).toEqual([{ signal }, {}]);
  });
});

describe("what was looked up", () => {
  it("is known to the redactor", async () => {
    const secrets = createSecrets({ environment: { TOKEN: "s3cr3t-value" } });
    const before = secrets.redactor.text("s3cr3t-value");
    await secrets.fill("Bearer ${secret:env:TOKEN}", USE);
    expect([before, secrets.redactor.text("s3cr3t-value")]).toEqual(["s3cr3t-value", "[redacted]"]);
  });

  it("is told of, once and without its value, where it is too short for that", async () => {
    const told: unknown[] = [];
    const emit = (...event: unknown[]): void => void told.push(event);
    const secrets = createSecrets({ environment: { TOKEN: "short" }, emit });
    const [other, message] = [
      { ...USE, field: "env.OTHER" },
      "env:TOKEN is shorter than 6 characters, so it cannot be redacted in logs. Use a longer one.",
    ];
    expect(await secrets.resolve("env:TOKEN", USE)).toBe("short");
    expect(told).toEqual([["secret-skipped", { ...USE, message }]]);
    for (const use of [USE, other, other]) await secrets.resolve("env:TOKEN", use);
    await secrets.resolve(() => "tiny", { ...USE, scope: "other" });
    expect(told.slice(1)).toEqual([
      ["secret-skipped", { ...other, message }],
      ["secret-skipped", { ...USE, scope: "other", message: message.replace("env:TOKEN", "a function") }],
    ]);
  });

  it("is given where it is too short and nobody is told", async () => {
    expect(await createSecrets({ environment: { TOKEN: "short" } }).resolve("env:TOKEN", USE)).toBe("short");
  });

  it("is refused, and not shown, where a secret stands in place of a reference", async () => {
    const messages = ["never-shown", 12_345 as unknown as string].map((given) =>
      failure(createSecrets().resolve(given, USE)),
    );
    expect((await Promise.all(messages)).join()).not.toMatch(/never-shown|12345/);
  });
});
