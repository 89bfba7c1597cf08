import { describe, expect, it } from "vitest";
import { fillMembers, type Members } from "./fill-members.ts";
import { createSecrets } from "./secrets.ts";

const environment = { TOKEN: "s3cr3t-value", ANN: "that-of-ann", LINK: "postgres://ann:pass%2Fword@db.example/main" };
const USE = { scope: "tickets", field: "headers" };

/** What is left of texts once the members were filled in. */
async function shownAfter(members: Members, ...texts: readonly string[]): Promise<readonly string[]> {
  const secrets = createSecrets({ environment });
  await fillMembers(members, secrets, USE);
  return texts.map(secrets.redactor.text);
}

describe("members", () => {
  it("hold the secrets they refer to, those of the caller too", async () => {
    const members = { Authorization: "Bearer ${secret:env:TOKEN}", "X-User": "env:{principal}", Accept: "text/plain" };
    const filled = await fillMembers(members, createSecrets({ environment }), { ...USE, principal: { id: "ANN" } });
    expect(filled).toEqual({ Authorization: "Bearer s3cr3t-value", "X-User": "that-of-ann", Accept: "text/plain" });
  });

  it("are named where one refers to nothing", async () => {
    const asked = fillMembers({ "X-Key": "env:ABSENT" }, createSecrets({ environment }), USE);
    await expect(asked).rejects.toMatchObject({ code: "CONFIG_INVALID", details: { field: "headers.X-Key" } });
  });

  it.each(["X-Id", "Authorization"])(
    "that refer to a secret make the whole value known, whatever the name: %s",
    async (name) => {
      const members = { [name]: "id-7-${secret:env:TOKEN}" };
      expect(await shownAfter(members, "id-7-s3cr3t-value", "s3cr3t-value")).toEqual(["[redacted]", "[redacted]"]);
    },
  );

  it("that a function gives are known", async () => {
    expect(await shownAfter({ "X-Id": () => "Token given-by-it" }, "Token given-by-it", "given-by-it")).toEqual([
      "[redacted]",
      "[redacted]",
    ]);
  });

  it.each([
    "Authorization",
    "X-Api-Key",
    "apikey",
    "GITHUB_TOKEN",
    "github.token",
    "Cookie",
    "X-Credential",
    "credentials",
    "DB_PASSWORD",
    "db_pass",
  ])("that are written out as %s are known", async (name) => {
    expect(await shownAfter({ [name]: "written-out!" }, "<written-out!>")).toEqual(["<[redacted]>"]);
  });

  it.each([
    ["a key that its form gives away", ["xoxb", "-1234567890-abcdefghij"].join("")],
    ["letters and digits at random", "a8Xk29dLq0Zp3mVb7Rt5Yw1c"],
    ["an address with a path that only its owner knows", "https://hooks.example/services/a8Xk29dLq0Zp3mVb7Rt5Yw1c"],
    ["an address with a password", "postgres://ann:pass-word@db.example/main"],
  ])("that are written out as %s are known, whatever the name", async (_what, value) => {
    expect(await shownAfter({ SLACK_BOT: value }, `<${value}>`)).toEqual(["<[redacted]>"]);
  });

  it("that are ordinary values are not secret, however long", async () => {
    const values = [
      "https://api.example/v2/projects",
      "/home/ann/projects/website",
      "some-quite-long-project-name-2024",
      "2024-01-31T12:00:00.000Z",
    ];
    for (const value of values) expect(await shownAfter({ SETTING: value }, value)).toEqual([value]);
  });

  it.each(["X-Keyboard", "monkey", "TOKEN_LIMIT", "Accept"])(
    "that are written out as %s are no secret",
    async (name) => {
      expect(await shownAfter({ [name]: "written-out!" }, "<written-out!>")).toEqual(["<written-out!>"]);
    },
  );

  it("that are written out in fewer than twelve characters are no secret", async () => {
    expect(await shownAfter({ Authorization: "written-out" }, "written-out")).toEqual(["written-out"]);
  });

  it("give away no token that stands after a word", async () => {
    expect(
      await shownAfter({ Authorization: "Bearer abc-def ghi" }, "Bearer abc-def ghi", "abc-def ghi", "Bearer "),
    ).toEqual(["[redacted]", "[redacted]", "Bearer "]);
  });

  it("give away no password of HTTP Basic", async () => {
    const encoded = Buffer.from("ann:hunter:22").toString("base64");
    const members = { Authorization: `basic ${encoded}` };
    expect(await shownAfter(members, encoded, "as ann with hunter:22")).toEqual([
      "[redacted]",
      "as ann with [redacted]",
    ]);
  });

  it("give away no password of an address, however it is written", async () => {
    const members = { DATABASE: "env:LINK" };
    const texts = ["postgres://ann:pass%2Fword@db.example/main", "pass%2Fword", "pass/word", "db.example", "ann"];
    expect(await shownAfter(members, ...texts)).toEqual([
      "[redacted]",
      "[redacted]",
      "[redacted]",
      "db.example",
      "ann",
    ]);
  });

  it("have no password in what only looks like one in an address", async () => {
    const members = { "X-Token": "https://db.example/path:with-colon@here" };
    expect(await shownAfter(members, "with-colon", "db.example/path")).toEqual(["with-colon", "db.example/path"]);
  });
});
