import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { writeZip, type ZipInput } from "../../scripts/bundle/write-zip.ts";
import { useHostileFolder } from "../registries/hostile-folder.ts";
import { serverProgram } from "../registries/server-program.ts";

const user = useHostileFolder();

const manifest = (more: object = {}, config: object = {}): string =>
  JSON.stringify({
    manifest_version: "0.3",
    name: "weather",
    version: "1.0.0",
    description: "Weather",
    author: { name: "Octo" },
    server: {
      type: "node",
      entry_point: "server/index.js",
      mcp_config: { command: "node", args: ["${__dirname}/server/index.js"], ...config },
    },
    ...more,
  });
const bundle = (text: string, ...more: readonly ZipInput[]): Buffer =>
  writeZip([
    { name: "manifest.json", content: text },
    {
      name: "server/index.js",
      content: serverProgram([{ name: "forecast", description: "Weather." }], { marks: user.mark }),
    },
    ...more,
  ]);
const LINK = 0o120777;

/** Each row: what is tried, the bundle, and the words of the refusal. */
const BUNDLES: readonly (readonly [attack: string, make: () => Buffer, reason: string])[] = [
  [
    "a path out of the folder",
    () => bundle(manifest(), { name: "../../evil.sh", content: "x" }),
    'unsafe file name "../../evil.sh"',
  ],
  ["an absolute path", () => bundle(manifest(), { name: "/etc/cron.d/evil", content: "x" }), "unsafe file name"],
  ["a path of Windows", () => bundle(manifest(), { name: "..\\evil.bat", content: "x" }), "unsafe file name"],
  [
    "a symbolic link",
    () => bundle(manifest(), { name: "server/keys", content: "/etc/shadow", mode: LINK }),
    'contains the link "server/keys"',
  ],
  ["a device", () => bundle(manifest(), { name: "server/disk", content: "", mode: 0o060600 }), "which is not a file"],
  ["a file twice", () => bundle(manifest(), { name: "Server/INDEX.js", content: "x" }), "twice"],
  [
    "more than it announces",
    () => bundle(manifest(), { name: "bomb", content: Buffer.alloc(5_000_000), announced: 10 }),
    "more than announced",
  ],
  [
    "too much data",
    () => bundle(manifest(), { name: "bomb", content: "", announced: 2_000_000_000 }),
    "unpacks to more than 1024 MiB",
  ],
  ["no manifest", () => writeZip([{ name: "server/index.js", content: "x" }]), "has no manifest.json"],
  [
    "another program",
    () => bundle(manifest({}, { command: "bash", args: ["-c", "id"] })),
    'server.mcp_config.command is "bash"',
  ],
  ["code for Node", () => bundle(manifest({}, { args: ["-e", "process.exit()"] })), 'server.mcp_config.args.0 is "-e"'],
  [
    "a program out of its folder",
    () => bundle(manifest({}, { command: "${__dirname}/../../bin/sh" })),
    "is neither a file of the bundle",
  ],
  [
    "a shell command",
    () => bundle(manifest({}, { args: ["${__dirname}/server/index.js", "; rm -rf ~"] })),
    "contains a shell command",
  ],
  [
    "a secret of this machine",
    () => bundle(manifest({}, { env: { KEY: "${AWS_SECRET_ACCESS_KEY}" } })),
    "which bundles do not have",
  ],
  [
    "a variable that loads code",
    () => bundle(manifest({}, { env: { NODE_OPTIONS: "--require /tmp/x" } })),
    "changes the code that programs load",
  ],
  [
    "a main file elsewhere",
    () => bundle(manifest({ server: { type: "node", entry_point: "../x.js" } })),
    "which is not in the bundle",
  ],
];

describe("a bundle, while a sandbox is configured that cannot confine a server,", () => {
  it("is not run, unless the user does without the sandbox", async () => {
    const config = join(user.folder, "arsenal.yaml");
    const before = `${await readFile(config, "utf8")}execution: { enable_sandbox: true, sandbox_type: subprocess }\n`;
    await writeFile(config, before);
    await writeFile(join(user.folder, "weather.mcpb"), bundle(manifest()));
    const { code, err } = await user.run("add", "./weather.mcpb", "--yes");
    expect(code).toBe(1);
    expect(err).toContain('SANDBOX_FAILED The configured sandbox, "subprocess", cannot confine a server');
    expect(err).toContain("Set execution.sandbox_type to bubblewrap");
    await user.expectNothing(before);
    expect((await user.run("add", "./weather.mcpb", "--yes", "--no-sandbox")).code).toBe(0);
    await rm(user.mark);
  });
});

describe("a hostile bundle", () => {
  it.each(BUNDLES)("with %s is refused, and nothing is written or run", async (_attack, make, reason) => {
    const before = await readFile(join(user.folder, "arsenal.yaml"), "utf8");
    await writeFile(join(user.folder, "evil.mcpb"), make());
    const { code, err } = await user.run("add", "./evil.mcpb", "--yes");
    expect(err).toContain(reason);
    expect(err).toContain("refused as dangerous");
    expect(code).toBe(1);
    await user.expectNothing(before);
  });

  it.each([
    [
      "an old format",
      () => bundle(manifest({ manifest_version: "0.2" })),
      'manifest_version is "0.2", and 0.3 or newer is needed',
    ],
    [
      "another platform",
      () => bundle(manifest({ compatibility: { platforms: ["plan9"] } })),
      "it is for plan9, and this is",
    ],
    ["no JSON", () => bundle("{"), "is not JSON"],
  ])("with %s is reported", async (_problem, make, message) => {
    const before = await readFile(join(user.folder, "arsenal.yaml"), "utf8");
    await writeFile(join(user.folder, "odd.mcpb"), make());
    const { code, err } = await user.run("add", "./odd.mcpb", "--yes");
    expect(err).toContain(message);
    expect(code).toBeGreaterThan(0);
    await user.expectNothing(before);
  });

  it("whose bytes were cut or changed is refused", async () => {
    const whole = bundle(manifest());
    const before = await readFile(join(user.folder, "arsenal.yaml"), "utf8");
    for (const bytes of [
      whole.subarray(0, -5),
      Buffer.concat([whole, Buffer.from("more")]),
      Buffer.concat([Buffer.from("more"), whole]),
    ]) {
      await writeFile(join(user.folder, "cut.mcpb"), bytes);
      expect((await user.run("add", "./cut.mcpb", "--yes")).code).toBe(1);
    }
    await user.expectNothing(before);
  });
});

describe("a good bundle", () => {
  const signature = Buffer.concat([Buffer.from("MCPB_SIG_V1"), Buffer.alloc(40, 7), Buffer.from("MCPB_SIG_END")]);

  it.each([
    ["behind the archive", (bytes: Buffer) => bytes],
    [
      "in the comment of the archive",
      (bytes: Buffer) => {
        const counted = Buffer.from(bytes);
        counted.writeUInt16LE(signature.length, counted.length - 2);
        return counted;
      },
    ],
  ])("with a signature %s is added, and add says that the signature was not checked", async (_place, prepare) => {
    const bytes = Buffer.concat([prepare(bundle(manifest())), signature]);
    await writeFile(join(user.folder, "signed.mcpb"), bytes);
    const { code, err } = await user.run("add", "./signed.mcpb", "--yes");
    expect([code, err]).toEqual([0, expect.stringContaining("The bundle is signed. Its signature was not checked.\n")]);
    await rm(user.mark);
  });

  const settings = {
    user_config: {
      region: { type: "string", title: "Region", description: "Where you hike", required: true },
      token: { type: "string", title: "Token", description: "Your key", sensitive: true, required: true },
      folders: { type: "directory", title: "Folders", description: "Maps", multiple: true, default: ["${HOME}/maps"] },
    },
  };
  const config = {
    args: ["${__dirname}/server/index.js", "--region", "${user_config.region}", "${user_config.folders}"],
    env: { WEATHER_TOKEN: "${user_config.token}", UNITS: "imperial" },
    platform_overrides: { [process.platform]: { env: { UNITS: "metric" } }, plan9: { command: "rc" } },
  };

  it("runs with the user's values and the overrides of this platform", async () => {
    await writeFile(join(user.folder, "weather.mcpb"), bundle(manifest(settings, config)));
    const inputs = ["--input", "region=alps", "--input", "token=tok-123456", "--input", "folders=/a,/b"];
    const { code, err } = await user.run("add", "./weather.mcpb", "--yes", ...inputs);
    expect([code, err.includes("Connected: 1 tool.")]).toEqual([0, true]);
    const yaml = await readFile(join(user.folder, "arsenal.yaml"), "utf8");
    expect(yaml).not.toContain("tok-123456");
    const { out } = await user.run("call", "weather.forecast", "--json");
    const { result } = JSON.parse(out) as { result: { content: readonly { text: string }[] } };
    const said = JSON.parse(result.content[0]?.text ?? "{}") as Record<string, unknown>;
    expect(said).toMatchObject({ arguments: ["--region", "alps", "/a", "/b"], token: "tok-123456", units: "metric" });
    expect(String(said["cwd"])).toContain(".toolarsenal/servers/weather/1.0.0-");
    await rm(user.mark);
  });
});
