import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FIELD_WEIGHTS, type FieldTexts, LEXICAL_FIELDS, SATURATION as saturation } from "./lexical-fields.ts";
import { createLexicalIndex, type LexicalHit, type LexicalIndex } from "./lexical-index.ts";
import { nameKey, tokenize } from "./tokenize.ts";

const EMPTY: FieldTexts = {
  name: "",
  description: "",
  tags: "",
  examples: "",
  parameterNames: "",
  parameterDescriptions: "",
  namespace: "",
};

function texts(given: Partial<FieldTexts>): FieldTexts {
  return { ...EMPTY, ...given };
}

function indexOf(documents: Readonly<Record<string, Partial<FieldTexts>>>): LexicalIndex {
  const index = createLexicalIndex();
  for (const [id, given] of Object.entries(documents)) index.upsert(id, texts(given));
  return index;
}

/** BM25F as the textbook has it, from scratch for every query. */
function naiveSearch(documents: ReadonlyMap<string, FieldTexts>, text: string): LexicalHit[] {
  const terms = (value: string): string[] => tokenize(value).map(({ term }) => term);
  const all = [...documents].map(([id, given]) => ({ id, given }));
  const queryTerms = [...new Set(terms(text))];
  const rarity = (term: string): number => {
    const having = all.filter(({ given }) => LEXICAL_FIELDS.some((field) => terms(given[field]).includes(term))).length;
    return Math.log(1 + (Math.max(all.length, 50) - having + 0.5) / (having + 0.5));
  };
  const attainable = queryTerms.reduce((sum, term) => sum + rarity(term), 0);
  const averages = LEXICAL_FIELDS.map((field) => {
    const lengths = all.map(({ given }) => terms(given[field]).length).filter((length) => length > 0);
    return lengths.reduce((sum, length) => sum + length, 0) / Math.max(lengths.length, 1);
  });
  return all
    .map(({ id, given }) => {
      const isNamed = [given.name, `${given.namespace} ${given.name}`].some((name) => nameKey(name) === nameKey(text));
      const score = queryTerms.reduce((sum, term) => {
        const frequency = LEXICAL_FIELDS.reduce((total, field, index) => {
          const own = terms(given[field]);
          const count = own.filter((word) => word === term).length;
          const { weight, lengthPenalty } = FIELD_WEIGHTS[field];
          const relativeLength = own.length / Math.max(averages[index] ?? 0, 1e-9);
          return count === 0 ? total : total + (weight * count) / (1 - lengthPenalty + lengthPenalty * relativeLength);
        }, 0);
        return sum + ((rarity(term) / attainable) * frequency) / (saturation + frequency);
      }, 0);
      return { id, score: isNamed && nameKey(text) !== "" ? 1 : score };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
}

const someText = fc
  .array(fc.constantFrom("send", "email", "files", "user", "delete", "report", "query", "the", "data"), {
    maxLength: 6,
  })
  .map((list) => list.join(" "));
const someTexts = fc.record(
  Object.fromEntries(LEXICAL_FIELDS.map((field) => [field, someText])),
) as fc.Arbitrary<FieldTexts>;
const someChange = fc.record({
  id: fc.constantFrom("a", "b", "c", "d", "e", "f", "g"),
  texts: fc.option(someTexts, { nil: undefined }),
});

describe("lexical index", () => {
  it("scores as BM25F by the book does, whatever came, changed and went before [003-canonical-lexical] [003-canonical-incremental]", () => {
    fc.assert(
      fc.property(fc.array(someChange, { maxLength: 25 }), someText, (changes, text) => {
        const index = createLexicalIndex();
        const documents = new Map<string, FieldTexts>();
        for (const change of changes) {
          if (change.texts) {
            index.upsert(change.id, change.texts);
            documents.set(change.id, change.texts);
          } else {
            expect(index.remove(change.id)).toBe(documents.delete(change.id));
          }
        }
        expect(index.size).toBe(documents.size);
        const expected = naiveSearch(documents, text);
        const found = index.search(text, { limit: 100 });
        expect(new Set(found.map(({ id }) => id))).toEqual(new Set(expected.map(({ id }) => id)));
        for (const { id, score } of expected) expect(found.find((hit) => hit.id === id)?.score).toBeCloseTo(score, 5);
      }),
    );
  });

  it("gives the very same answer whether documents came in one go or through changes", () => {
    fc.assert(
      fc.property(fc.array(someChange, { maxLength: 25 }), someText, (changes, text) => {
        const changed = createLexicalIndex();
        const documents = new Map<string, FieldTexts>();
        for (const change of changes) {
          if (change.texts) {
            changed.upsert(change.id, change.texts);
            documents.set(change.id, change.texts);
          } else {
            changed.remove(change.id);
            documents.delete(change.id);
          }
        }
        const atOnce = createLexicalIndex();
        for (const [id, given] of documents) atOnce.upsert(id, given);
        expect(changed.search(text, { limit: 4 })).toEqual(atOnce.search(text, { limit: 4 }));
      }),
    );
  });

  it("uses a removed document's slot again", () => {
    const index = createLexicalIndex();
    const slot = index.upsert("a", texts({ name: "send_email" }));
    index.upsert("b", texts({ name: "delete_file" }));
    index.remove("a");
    expect(index.upsert("c", texts({ name: "resize_image" }))).toBe(slot);
    expect(index.search("email", { limit: 5 })).toEqual([]);
  });

  it("filters before it cuts", () => {
    const index = createLexicalIndex();
    const refused = index.upsert("best", texts({ name: "send_email", description: "Send email. Email!" }));
    index.upsert("second", texts({ description: "Something about email." }));
    const found = index.search("email", { limit: 1, accept: (slot) => slot !== refused });
    expect(found.map(({ id }) => id)).toEqual(["second"]);
  });

  it("asks about a document once a query", () => {
    const index = indexOf({ a: { name: "send_email", description: "Send an email message" } });
    const asked: number[] = [];
    index.search("send the email message", { limit: 5, accept: (slot) => asked.push(slot) > 0 });
    expect(asked).toHaveLength(1);
  });

  it("puts the tool whose name is asked for first, with all there is to reach", () => {
    const index = indexOf({
      verbose: { name: "query_database_schema", description: "Query database. Query the database, database query." },
      named: { name: "query_database", namespace: "crm", description: "Runs SQL." },
    });
    for (const text of ["query_database", "queryDatabase", "Query database", "crm.query_database"]) {
      expect(index.search(text, { limit: 5 })[0]).toEqual({ id: "named", score: 1 });
    }
  });

  it("finds a tool by its name even where that name is a stop word", () => {
    expect(indexOf({ a: { name: "who" }, b: { name: "list" } }).search("who", { limit: 5 })).toEqual([
      { id: "a", score: 1 },
    ]);
  });

  it("gives a word that all of five tools share some weight, and a rarer one more", () => {
    const index = indexOf({
      a: { description: "order refund" },
      b: { description: "order list" },
      c: { description: "order cancel" },
      d: { description: "order track" },
      e: { description: "order print" },
    });
    const shared = index.search("order", { limit: 5 });
    expect(shared).toHaveLength(5);
    expect(shared[0]?.score).toBeGreaterThan(0.3);
    const [first, second] = index.search("order refund", { limit: 5 });
    expect(first?.id).toBe("a");
    expect(first?.score).toBeGreaterThan(1.5 * (second?.score ?? 1));
  });

  it("counts words nobody has against the score", () => {
    const index = indexOf({ a: { description: "refund a payment" }, b: { description: "list files" } });
    const [known] = index.search("refund", { limit: 1 });
    const [diluted] = index.search("refund zebra giraffe elephant", { limit: 1 });
    expect(diluted?.score).toBeLessThan((known?.score ?? 0) / 3);
  });

  it("scores asked-for documents as a search would, and strangers with nothing", () => {
    const index = indexOf({ a: { name: "send_email" }, b: { name: "read_email" }, c: { name: "resize" } });
    const found = index.search("send email", { limit: 5 });
    const scoreOf = (id: string): number => found.find((hit) => hit.id === id)?.score ?? 0;
    expect(index.scores("send email", ["b", "nobody", "a", "c"])).toEqual([scoreOf("b"), 0, scoreOf("a"), 0]);
  });

  it("scores a few of many documents to the last bit as a search of all does", () => {
    const words = ["send", "email", "list", "order", "refund", "image", "resize", "customer", "send email"];
    const phrase = fc.array(fc.constantFrom(...words), { maxLength: 6 }).map((some) => some.join(" "));
    const document = fc.record({ name: phrase, description: phrase, tags: phrase, namespace: phrase });
    fc.assert(
      fc.property(fc.array(document, { minLength: 40, maxLength: 60 }), phrase, (documents, text) => {
        const index = createLexicalIndex();
        documents.forEach((given, at) => index.upsert(`t${at}`, texts(given)));
        const found = new Map(index.search(text, { limit: 100 }).map(({ id, score }) => [id, score]));
        const few = ["t31", "nobody", "t0"];
        expect(index.scores(text, few)).toEqual(few.map((id) => found.get(id) ?? 0));
      }),
    );
  });

  it("explains a match by the words of the request, heaviest first, with shares that sum to one", () => {
    const index = indexOf({
      a: { name: "send_email", description: "Send messages", parameterNames: "recipients" },
      b: { name: "send_fax" },
    });
    const matched = index.explain("please send emails to my recipient zebra")("a");
    expect(matched.map(({ term, fields }) => [term, fields])).toEqual([
      ["send", ["name", "description"]],
      ["emails", ["name"]],
      ["recipient", ["parameterNames"]],
    ]);
    expect(matched.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 10);
    expect(index.explain("anything")("nobody")).toEqual([]);
  });

  it("finds two tools alike that speak of the same things", () => {
    const index = indexOf({
      a: { name: "send_email", description: "Send an email to a person" },
      b: { name: "mail_send", description: "Send an email to somebody" },
      c: { name: "resize_image", description: "Make a picture smaller" },
    });
    expect(index.similarity("a", "a")).toBeCloseTo(1, 6);
    expect(index.similarity("a", "b")).toBeGreaterThan(0.4);
    expect(index.similarity("a", "c")).toBe(0);
    expect(index.similarity("a", "nobody")).toBe(0);
  });

  it("does not remember old weights when comparing after a change", () => {
    const index = indexOf({ a: { name: "send_email" }, b: { name: "send_fax" } });
    index.similarity("a", "b");
    index.upsert("b", texts({ name: "send_email" }));
    expect(index.similarity("a", "b")).toBeCloseTo(1, 6);
    index.upsert("c", texts({ name: "send_fax" }));
    const withB = index.similarity("a", "c");
    index.remove("b");
    expect(index.similarity("a", "c")).not.toBe(withB);
  });
});
