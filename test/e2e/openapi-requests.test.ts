import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callOperation, documentOf, type EchoServer, type Sent, startEcho } from "./openapi-echo.ts";

let echo: EchoServer;
let folder: string;
beforeAll(async () => {
  echo = await startEcho();
  folder = await mkdtemp(join(tmpdir(), "arsenal-"));
  await writeFile(join(folder, "a.txt"), "from a file");
  await symlink("/etc/hostname", join(folder, "link"));
});
afterAll(async () => {
  await echo.close();
  await rm(folder, { recursive: true });
});

/** Sends one operation's request and returns what arrived. */
async function send(
  path: string,
  method: string,
  operation: object,
  args: Readonly<Record<string, unknown>>,
  more: object = {},
): Promise<Sent> {
  const document = documentOf({ [path]: { [method]: { operationId: "it", ...operation } } });
  await callOperation({ document, server: echo.url, ...more }, "it", args);
  const sent = echo.sent.at(-1);
  if (sent === undefined) throw new Error("nothing was sent");
  return sent;
}

const LIST = ["blue", "black", "brown"];
const OBJECT = { R: 100, G: 200, B: 150 };

describe("a path parameter on the wire", () => {
  it.each([
    ["simple", false, "blue", "/blue"],
    ["simple", false, LIST, "/blue,black,brown"],
    ["simple", false, OBJECT, "/R,100,G,200,B,150"],
    ["simple", true, LIST, "/blue,black,brown"],
    ["simple", true, OBJECT, "/R=100,G=200,B=150"],
    ["label", false, "blue", "/.blue"],
    ["label", false, LIST, "/.blue,black,brown"],
    ["label", false, OBJECT, "/.R,100,G,200,B,150"],
    ["label", true, LIST, "/.blue.black.brown"],
    ["label", true, OBJECT, "/.R=100.G=200.B=150"],
    ["matrix", false, "blue", "/;color=blue"],
    ["matrix", false, "", "/;color"],
    ["matrix", false, LIST, "/;color=blue,black,brown"],
    ["matrix", false, OBJECT, "/;color=R,100,G,200,B,150"],
    ["matrix", true, LIST, "/;color=blue;color=black;color=brown"],
    ["matrix", true, OBJECT, "/;R=100;G=200;B=150"],
    ["simple", false, "a/b?c#d é", "/a%2Fb%3Fc%23d%20%C3%A9"],
    ["simple", false, 7, "/7"],
    ["simple", false, true, "/true"],
  ])("in style %s, exploded %s, of %j is %s", async (style, explode, color, target) => {
    const parameters = [{ name: "color", in: "path", required: true, style, explode, schema: {} }];
    expect(await send("/{color}", "get", { parameters }, { color })).toMatchObject({ method: "GET", target });
  });

  it("of several segments keeps its slashes where the document says so", async () => {
    const parameters = [{ name: "path", in: "path", required: true, "x-multi-segment": true, schema: {} }];
    const { target } = await send("/files/{path}", "get", { parameters }, { path: "a/b c?d" });
    expect(target).toBe("/files/a/b%20c%3Fd");
  });

  it.each(["..", ".", "a/../../b"])("that would lead to another address is refused: %j", async (path) => {
    const parameters = [{ name: "path", in: "path", required: true, "x-multi-segment": true, schema: {} }];
    const count = echo.sent.length;
    await expect(send("/files/{path}/x", "get", { parameters }, { path })).rejects.toMatchObject({
      code: "ARGUMENTS_INVALID",
      details: { field: "path", beforeSend: true },
    });
    expect(echo.sent.length).toBe(count);
  });

  it("that is encoded already is encoded again, so that it leads nowhere else", async () => {
    expect((await send("/files/{path}/x", "get", {}, { path: "%2e%2e" })).target).toBe("/files/%252e%252e/x");
  });

  it("that would lead to another address is named among others", async () => {
    for (const path of ["/files/{a}/{b}", "/files/{a}{b}"])
      await expect(send(path, "get", {}, { a: "x", b: ".." })).rejects.toMatchObject({ details: { field: "b" } });
  });

  it("that is missing or empty is named", async () => {
    await expect(send("/{id}", "get", {}, {})).rejects.toThrow(/^id is missing/);
    await expect(send("/{id}", "get", {}, { id: "" })).rejects.toThrow(/^id must not be empty/);
  });
});

describe("a query parameter on the wire", () => {
  it.each([
    ["form", true, "blue", "?color=blue"],
    ["form", true, "", "?color="],
    ["form", true, LIST, "?color=blue&color=black&color=brown"],
    ["form", true, OBJECT, "?R=100&G=200&B=150"],
    ["form", false, LIST, "?color=blue,black,brown"],
    ["form", false, OBJECT, "?color=R,100,G,200,B,150"],
    ["form", false, ["a,b", "c&d"], "?color=a%2Cb,c%26d"],
    ["form", true, [], ""],
    ["form", true, null, ""],
    ["spaceDelimited", false, LIST, "?color=blue%20black%20brown"],
    ["spaceDelimited", false, OBJECT, "?color=R%20100%20G%20200%20B%20150"],
    ["spaceDelimited", true, LIST, "?color=blue&color=black&color=brown"],
    ["pipeDelimited", false, LIST, "?color=blue%7Cblack%7Cbrown"],
    ["pipeDelimited", false, OBJECT, "?color=R%7C100%7CG%7C200%7CB%7C150"],
    ["deepObject", true, OBJECT, "?color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"],
    ["deepObject", true, { a: { b: [1, 2] } }, "?color%5Ba%5D%5Bb%5D%5B0%5D=1&color%5Ba%5D%5Bb%5D%5B1%5D=2"],
    ["form", true, "a b&c=d+e/f", "?color=a%20b%26c%3Dd%2Be%2Ff"],
  ])("in style %s, exploded %s, of %j is %s", async (style, explode, color, query) => {
    const parameters = [{ name: "color", in: "query", style, explode, schema: {} }];
    expect((await send("/x", "get", { parameters }, { color })).target).toBe(`/x${query}`);
  });

  it("that allows reserved characters keeps those that end neither it nor the query", async () => {
    const parameters = [{ name: "to", in: "query", allowReserved: true, schema: {} }];
    const { target } = await send("/x", "get", { parameters }, { to: "a:/?@!$'()*,;=&#[]+ %" });
    expect(target).toBe("/x?to=a:/?@!$%27()*,;=%26%23%5B%5D%2B%20%25");
  });

  it("with a media type of its own is written as that", async () => {
    const parameters = [{ name: "filter", in: "query", content: { "application/json": { schema: {} } } }];
    const { target } = await send("/x?fixed=1", "get", { parameters }, { filter: { a: [1] } });
    expect(target).toBe("/x?fixed=1&filter=%7B%22a%22%3A%5B1%5D%7D");
  });

  it.each([
    ["csv", "?ids=1,2"],
    ["ssv", "?ids=1%202"],
    ["tsv", "?ids=1%092"],
    ["pipes", "?ids=1%7C2"],
    ["multi", "?ids=1&ids=2"],
  ])("of Swagger 2 in the collection format %s is %s", async (collectionFormat, query) => {
    const parameters = [{ name: "ids", in: "query", type: "array", items: { type: "string" }, collectionFormat }];
    const document = { swagger: "2.0", info: {}, paths: { "/x": { get: { operationId: "it", parameters } } } };
    await callOperation({ document, server: echo.url }, "it", { ids: [1, 2] });
    expect(echo.sent.at(-1)?.target).toBe(`/x${query}`);
  });
});

describe("headers and cookies on the wire", () => {
  it.each([
    [false, LIST, "blue,black,brown"],
    [true, OBJECT, "R=100,G=200,B=150"],
    [false, "a b", "a b"],
  ])("a header, exploded %s, of %j is %s", async (explode, value, text) => {
    const parameters = [{ name: "X-Color", in: "header", explode, schema: {} }];
    const { headers } = await send("/x", "get", { parameters }, { "X-Color": value });
    expect(headers["x-color"]).toBe(text);
  });

  it("a header cannot begin another line", async () => {
    const parameters = [{ name: "X-Color", in: "header", schema: {} }];
    await expect(send("/x", "get", { parameters }, { "X-Color": "a\r\nX-Evil: 1" })).rejects.toMatchObject({
      code: "ARGUMENTS_INVALID",
      details: { field: "X-Color" },
    });
  });

  it("cookies stand in one header", async () => {
    const parameters = [
      { name: "a", in: "cookie", schema: {} },
      { name: "list", in: "cookie", explode: false, schema: {} },
    ];
    const { headers } = await send("/x", "get", { parameters }, { a: "1; evil=2", list: ["x", "y"] });
    expect(headers.cookie).toBe("a=1%3B%20evil%3D2; list=x,y");
  });

  it("headers that belong to the connection are no parameters", async () => {
    const names = ["Authorization", "Content-Type", "Accept", "Host"];
    const parameters = names.map((name) => ({ name, in: "header", schema: {} }));
    const { headers } = await send("/x", "get", { parameters }, { Authorization: "mine", Host: "evil" });
    expect([headers.authorization, headers.host]).toEqual([undefined, new URL(echo.url).host]);
    expect(headers["user-agent"]).toBe("toolarsenal");
  });
});

function body(contentType: string, schema: object, more: object = {}): object {
  return { requestBody: { required: true, content: { [contentType]: { schema, ...more } } } };
}

const PROPERTIES = { type: "object", properties: { a: {}, b: {}, c: {} } };

describe("a body on the wire", () => {
  it("of JSON has the arguments that belong to it", async () => {
    const sent = await send("/{id}", "post", body("application/json", PROPERTIES), {
      id: 1,
      a: "ä",
      b: null,
      c: [{ d: 1 }],
    });
    expect(Buffer.from(sent.body, "latin1").toString()).toBe('{"a":"ä","b":null,"c":[{"d":1}]}');
    expect([sent.target, sent.headers["content-type"], sent.headers["content-length"]]).toEqual([
      "/1",
      "application/json",
      "33",
    ]);
  });

  it.each([
    ["application/vnd.api+json", { type: "array", items: {} }, [1, 2], "[1,2]", "application/vnd.api+json"],
    ["*/*", { type: "string" }, "x", '"x"', "application/json"],
    ["text/plain", { type: "string" }, "plain", "plain", "text/plain"],
    ["application/xml", { type: "object" }, "<a/>", "<a/>", "application/xml"],
    ["application/octet-stream", {}, { base64: "AP8=" }, "\u0000\u00ff", "application/octet-stream"],
    ["image/png", {}, { text: "png", contentType: "image/x-png" }, "png", "image/x-png"],
  ])("of %s is the argument body", async (contentType, schema, value, text, sentType) => {
    const sent = await send("/x", "put", body(contentType, schema), { body: value });
    expect([sent.body, sent.headers["content-type"]]).toEqual([text, sentType]);
  });

  it.each([
    ["plain values", {}, { a: "x y&z", b: 1.5, c: true }, "a=x+y%26z&b=1.5&c=true"],
    ["lists and objects", {}, { a: [1, 2], b: { k: "v" } }, "a=1&a=2&b=%7B%22k%22%3A%22v%22%7D"],
    [
      "deepObject, as Stripe wants it",
      { a: { style: "deepObject", explode: true }, b: { style: "deepObject", explode: true } },
      { a: [{ price: "p_1", quantity: 2 }], b: { k: "v", l: { m: 1 } } },
      "a%5B0%5D%5Bprice%5D=p_1&a%5B0%5D%5Bquantity%5D=2&b%5Bk%5D=v&b%5Bl%5D%5Bm%5D=1",
    ],
    [
      "other styles",
      { a: { style: "pipeDelimited", explode: false }, b: { explode: false }, c: { contentType: "application/json" } },
      { a: [1, 2], b: [1, 2], c: [1, 2] },
      "a=1%7C2&b=1,2&c=%5B1%2C2%5D",
    ],
  ])("of a form has %s", async (_what, encoding, args, text) => {
    const sent = await send("/x", "post", body("application/x-www-form-urlencoded", PROPERTIES, { encoding }), args);
    expect([sent.body, sent.headers["content-type"]]).toEqual([text, "application/x-www-form-urlencoded"]);
  });

  const UPLOAD = {
    type: "object",
    properties: {
      a: { type: "string", format: "binary" },
      b: {},
      c: { type: "array", items: { format: "binary" } },
      d: {},
    },
  };
  const multipart = ({ body: text, headers }: Sent): string => {
    const boundary = /^multipart\/form-data; boundary=(.+)$/.exec(String(headers["content-type"]))?.[1] ?? "none";
    return text.replaceAll(boundary, "B").replaceAll("\r\n", "|");
  };

  it("of several parts has values, JSON and files", async () => {
    const operation = body("multipart/form-data", UPLOAD, {
      encoding: { a: { contentType: "image/png" }, d: { style: "deepObject" } },
    });
    const args = {
      a: { base64: "aGk=", filename: 'a"b.png' },
      b: { k: 1 },
      c: [{ text: "one" }, { text: "two", contentType: "text/csv" }],
      d: { e: "f" },
    };
    expect(multipart(await send("/x", "post", operation, args))).toBe(
      '--B|Content-Disposition: form-data; name="a"; filename="a%22b.png"|Content-Type: image/png||hi|' +
        '--B|Content-Disposition: form-data; name="b"|Content-Type: application/json||{"k":1}|' +
        '--B|Content-Disposition: form-data; name="c"; filename="c"|Content-Type: application/octet-stream||one|' +
        '--B|Content-Disposition: form-data; name="c"; filename="c"|Content-Type: text/csv||two|' +
        '--B|Content-Disposition: form-data; name="d[e]"||f|--B--|',
    );
  });

  it("streams a file from the folder that is open, and from nowhere else", async () => {
    const operation = body("multipart/form-data", UPLOAD);
    const sent = await send("/x", "post", operation, { a: { path: "a.txt" }, b: 1 }, { filesFrom: folder });
    expect(multipart(sent)).toBe(
      '--B|Content-Disposition: form-data; name="a"; filename="a.txt"|Content-Type: application/octet-stream||from a file|' +
        '--B|Content-Disposition: form-data; name="b"||1|--B--|',
    );
    expect(sent.headers["content-length"]).toBe(String(sent.body.length));
    const raw = await send(
      "/x",
      "post",
      body("application/octet-stream", {}),
      { body: { path: "a.txt" } },
      { filesFrom: folder },
    );
    expect([raw.body, raw.headers["content-length"]]).toEqual(["from a file", "11"]);
    for (const path of ["../a", "/etc/passwd", "link", ".", "none"])
      await expect(send("/x", "post", operation, { a: { path } }, { filesFrom: folder })).rejects.toThrow(
        /^a\.path is not a file/,
      );
    await expect(send("/x", "post", operation, { a: { path: "a.txt" } })).rejects.toThrow(
      /^a\.path cannot be used here/,
    );
    await expect(send("/x", "post", operation, { a: { base64: "?" } })).rejects.toThrow(/^a\.base64 is not base64/);
    await expect(send("/x", "post", operation, { a: {} })).rejects.toThrow(/^a must have either text or base64/);
  });

  it("that is optional is left out with all of its members, and whole with one", async () => {
    const schema = { ...PROPERTIES, required: ["a"] };
    const operation = { requestBody: { content: { "application/json": { schema } } } };
    const sent = await send("/x", "post", operation, {});
    expect([sent.body, sent.headers["content-type"], sent.headers["content-length"]]).toEqual(["", undefined, "0"]);
    await expect(send("/x", "post", operation, { b: 1 })).rejects.toThrow(/^a is missing/);
  });

  it("that takes further members gets what else is given", async () => {
    const operation = body("application/json", { ...PROPERTIES, additionalProperties: true });
    expect((await send("/{id}", "post", operation, { id: 1, a: 1, extra: 2 })).body).toBe('{"a":1,"extra":2}');
  });

  it("keeps apart what has the same name", async () => {
    const parameters = [
      { name: "id", in: "query", schema: {} },
      { name: "id", in: "header", schema: {} },
      { name: "id_query", in: "query", schema: {} },
    ];
    const operation = { parameters, ...body("application/json", { type: "object", properties: { id: {} } }) };
    const args = { id: "p", id_query_2: "q", id_query: "r", id_header: "h", id_body: "b" };
    const sent = await send("/{id}", "post", operation, args);
    expect([sent.target, sent.headers["id"], sent.body]).toEqual(["/p?id=q&id_query=r", "h", '{"id":"b"}']);
  });
});

describe("a parameter that no address or header can hold", () => {
  it.each(["path", "query", "header", "cookie"])("is refused in the %s before anything is sent", async (place) => {
    const operation = { parameters: [{ name: "a", in: place, required: true, schema: {} }] };
    const path = place === "path" ? "/{a}" : "/x";
    const before = echo.sent.length;
    for (const a of ["x".repeat(65_537), Array.from({ length: 40_000 }, () => "y")])
      await expect(send(path, "get", operation, { a })).rejects.toThrow(
        /^a is longer than 65536 bytes, the limit for addresses and headers/,
      );
    expect(echo.sent).toHaveLength(before);
  });
});
