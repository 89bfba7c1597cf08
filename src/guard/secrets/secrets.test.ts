import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
    expect(messages.map((message) => /: (the|it) ([^.]*)\./.exec(message)?.[2])).toEqual([
      "file cannot be opened (ENOENT)",
      "file is empty",
      "file is longer than 65536 bytes",
      "is no regular file",
    ]);
    expect(await secrets.resolve(`file:${folder}/link`, USE)).toBe("behind a link");
  });
});

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

  it("that is not there, or of a system that has none, is told with what to do", async () => {
    const absent = await keychain("secret-tool", "echo never-shown; exit 1");
    const messages = await Promise.all(
      [
        createSecrets({ environment: absent, platform: "linux" }),
        createSecrets({ environment: { PATH: "/nowhere" }, platform: "linux" }),
        createSecrets({ environment: {}, platform: "win32" }),
      ].map((secrets) => failure(secrets.resolve("keychain:a/b", USE))),
    );
    const start = 'headers.Authorization of "github" refers to keychain:a/b: ';
    expect(messages).toEqual([
      `${start}the keychain has no such entry. Store it: secret-tool store --label NAME service SERVICE account ACCOUNT`,
      `${start}secret-tool is not installed. Install secret-tool.`,
      `${start}there is no keychain that can be asked on win32. Use env: or file: instead.`,
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

  it("is refused for a name that is none, and where two callers could share one", async () => {
    const secrets = createSecrets({ environment: { T_a_b: "a secret" } });
    const asked = [
      secrets.resolve("env:T_{principal}", { ...USE, principal: { id: "" } }),
      secrets.resolve("env:T_{principal}", { ...USE, principal: { id: "\uD800" } }),
      secrets.resolve("env:T_{tenant}_{principal}", { ...USE, principal: { id: "b", tenant: "a" } }),
    ];
    const messages = await Promise.all(asked.map(failure));
    expect(messages.map((message) => message.includes("two names without /"))).toEqual([false, false, true]);
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
        'headers.Authorization of "github" is no reference to a secret. Write headers.Authorization: "env:NAME", "file:/WHOLE/PATH" or "keychain:SERVICE/ACCOUNT".',
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
    await failure(secrets.fill(() => "", USE));
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
    expect([await secrets.resolve("env:TOKEN", USE), await secrets.resolve("env:TOKEN", USE)]).toEqual([
      "short",
      "short",
    ]);
    const message = "env:TOKEN is shorter than 6 characters, so it is not taken out of logs. Use a longer one.";
    expect(told).toEqual([["secret-skipped", { ...USE, message }]]);
  });

  it("is refused, and not shown, where a secret stands in place of a reference", async () => {
    const message = await failure(createSecrets().resolve("never-shown", USE));
    expect(message).not.toContain("never-shown");
  });
});
