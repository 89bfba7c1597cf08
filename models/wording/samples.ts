import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { toolTexts } from "../../src/guard/scan/texts/tool-texts.ts";
import { phrasings } from "./expand.ts";

/** A harmful or harmless text, and its origin. */
export interface Sample {
  readonly text: string;
  readonly malicious: boolean;
  readonly place: "definition" | "result";
  /** Texts of one set have one origin: a writer, a corpus or a benchmark. */
  readonly set: string;
  /** Texts of one family are alike and are held out together. */
  readonly family: string;
  /** The fold that holds the family out; undefined for texts that are never trained on. */
  readonly fold: number | undefined;
  readonly weight: number;
}

/** Families are held out in this many parts, one at a time. */
export const FOLDS = 4;

/** Sets whose licence or purpose allows training; the others are only for measuring. */
const TRAINING_SETS = ["metatool", "metatool-multi", "sealtools", "bfcl", "apibench-huggingface", "apibench-tensorflow", "apibench-torchhub", "toucan-paraphrase"];
const CHECKING_SETS = ["mcp-bench", "restbench-tmdb", "toolret-apibank", "toollens", "ultratool"];
/** Lines taken from each set of tools and each set of requests. */
const PER_SET = 400;

const ATTACK_FOLDS: readonly (readonly string[])[] = [
  ["multilingual"],
  ["credential_read", "param_smuggling", "exfil_pretext", "data_leak", "secret_probe"],
  ["command_execution", "silent_side_effect", "tool_use", "destructive", "tool_dependency", "fake_error", "persistence", "shadowing"],
];

function hash(text: string): number {
  return createHash("sha256").update(text).digest().readUInt32BE(0);
}

function lines<Line>(path: string): readonly Line[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);
}

/** At most `PER_SET` texts, deterministically. */
function some(texts: readonly string[]): readonly string[] {
  return texts.toSorted((one, other) => hash(one) - hash(other)).slice(0, PER_SET);
}

interface WrittenLine {
  readonly text: string;
  readonly kind: string;
  readonly label: string;
  readonly category: string;
}

/** Harmless results quote each other, in several languages, so they are held out together. */
function foldOfWritten({ kind, label, category }: WrittenLine): number {
  if (label === "malicious") {
    const fold = ATTACK_FOLDS.findIndex((categories) => categories.includes(category));
    return fold === -1 ? ATTACK_FOLDS.length : fold;
  }
  return kind === "tool_result" || category === "multilingual" ? 0 : 1 + (hash(category) % (FOLDS - 1));
}

function writtenSamples(shared: string): readonly Sample[] {
  return ["written_poisoned", "written_results", "written_hard_negatives"].flatMap((set) =>
    lines<WrittenLine>(join(shared, "attacks", `${set}.jsonl`)).map((line) => {
      const malicious = line.label === "malicious";
      const isShortAndForeign = line.text.length < 200 && /\P{ASCII}/u.test(line.text);
      const place = line.kind === "tool_result" ? "result" : "definition";
      return {
        text: line.text,
        malicious,
        place,
        set,
        family: malicious ? line.category : `${place} ${line.category}`,
        fold: foldOfWritten(line),
        weight: malicious ? 1 : isShortAndForeign ? 6 : 2,
      };
    }),
  );
}

function phrasingSamples(): readonly Sample[] {
  return phrasings().map(({ text, malicious, place, kind }) => ({
    text,
    malicious,
    place,
    set: "phrasings",
    family: kind,
    fold: hash(kind) % FOLDS,
    weight: malicious ? 1 : 2,
  }));
}

/** Public cases of other writers, only for measuring. */
function publicSamples(shared: string): readonly Sample[] {
  return lines<{ text: string; label: string; category: string }>(join(shared, "attacks", "atr_mcp_cases.jsonl")).map(
    ({ text, label, category }) => ({
      text,
      malicious: label === "malicious",
      place: "definition",
      set: "agent-threat-rules",
      family: category,
      fold: undefined,
      weight: 0,
    }),
  );
}

interface ToolLine {
  readonly description?: string;
  readonly namespace?: string;
}

/** Texts of parameters taken from toucan-mcp. */
const PARAMETERS = 4000;

/** Descriptions of real tools and their parameters, held out by server. */
function corpusSamples(shared: string): readonly Sample[] {
  const corpora = join(shared, "corpora");
  const described = ["toucan-mcp", "docker-mcp-registry"].flatMap((name) =>
    lines<ToolLine>(join(corpora, name, "tools.jsonl")).flatMap(({ description = "", namespace = "" }) =>
      harmless([description], { set: name, family: name, place: "definition", fold: hash(namespace) % FOLDS }),
    ),
  );
  const parameters = lines<ToolLine>(join(corpora, "toucan-mcp", "tools.jsonl"))
    .flatMap((tool) =>
      toolTexts(tool as Readonly<Record<string, unknown>>).flatMap(({ path, text }) =>
        path.startsWith("parameters.") && path.endsWith(".description") ? [{ text, server: tool.namespace ?? "" }] : [],
      ),
    )
    .toSorted((one, other) => hash(one.text) - hash(other.text))
    .filter(({ text }, index, all) => text !== all[index - 1]?.text)
    .slice(0, PARAMETERS)
    .flatMap(({ text, server }) =>
      harmless([text], { set: "toucan-mcp", family: "parameters", place: "definition", fold: hash(server) % FOLDS }),
    );
  const listed = readdirSync(join(corpora, "mcp-servers")).flatMap((file) => {
    const { tools } = JSON.parse(readFileSync(join(corpora, "mcp-servers", file), "utf8")) as { readonly tools: readonly unknown[] };
    const texts = tools.flatMap((tool) => toolTexts(tool as Readonly<Record<string, unknown>>).map(({ text }) => text));
    return harmless(texts, { set: "mcp-servers", family: "mcp-servers", place: "definition", fold: undefined });
  });
  return [...described, ...parameters, ...listed];
}

/** Tools and requests of retrieval benchmarks. A request is worded like an instruction to a model, and harmless. */
function benchmarkSamples(shared: string): readonly Sample[] {
  return [...TRAINING_SETS, ...CHECKING_SETS].flatMap((name) => {
    const folder = join(shared, "eval", name);
    const fold = CHECKING_SETS.includes(name) ? undefined : hash(name.split("-")[0] ?? name) % FOLDS;
    const tools = name === "toucan-paraphrase" || name === "metatool-multi" ? [] : lines<ToolLine>(join(folder, "tools.jsonl"));
    const requests = lines<{ query: string }>(join(folder, "queries.jsonl"));
    return [
      ...harmless(
        some(tools.map(({ description = "" }) => description)),
        { set: "tools of benchmarks", family: name, place: "definition", fold },
      ),
      ...harmless(
        some(requests.map(({ query }) => query)),
        { set: "requests of benchmarks", family: name, place: "result", fold },
      ),
    ];
  });
}

function harmless(texts: readonly string[], where: Pick<Sample, "set" | "family" | "place" | "fold">): readonly Sample[] {
  return [...new Set(texts)]
    .filter((text) => text.trim() !== "")
    .map((text) => ({ text, malicious: false, weight: 1, ...where }));
}

/** Reads every text for training or measuring the scorer. */
export function allSamples(shared: string): readonly Sample[] {
  return [
    ...writtenSamples(shared),
    ...phrasingSamples(),
    ...publicSamples(shared),
    ...corpusSamples(shared),
    ...benchmarkSamples(shared),
  ];
}
