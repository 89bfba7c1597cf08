import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitWords } from "./split-words.ts";

describe("splitWords", () => {
  it.each([
    ["get_user_by_id", ["get", "user", "by", "id"]],
    ["get-user.byId", ["get", "user", "by", "id"]],
    ["HTTPServerError", ["http", "server", "error"]],
    ["listUserIDs", ["list", "user", "ids"]],
    ["parseURLs2json", ["parse", "urls", "2", "json"]],
    ["sha256sum", ["sha", "256", "sum"]],
    ["Send an e-mail, quickly!", ["send", "an", "e", "mail", "quickly"]],
    ["größeÄndern", ["größe", "ändern"]],
    ["ＡＢＣ　ｄｅｆ", ["abc", "def"]],
    ["搜索用户 search", ["搜索用户", "search"]],
    ["поискПользователя", ["поиск", "пользователя"]],
    ["हिन्दी", ["हिन्दी"]],
    ["", []],
    ["--- ...", []],
  ])("splits %j", (text, words) => {
    expect(splitWords(text)).toEqual(words);
  });

  it("gives words in lower case that split no further", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary-ascii" }), (text) => {
        for (const word of splitWords(text)) expect(splitWords(word)).toEqual([word]);
      }),
    );
  });
});
