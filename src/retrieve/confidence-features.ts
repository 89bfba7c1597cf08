import {
  kindsOf,
  profileRequest,
  profileTool,
  type ProfiledTool,
  type RequestProfile,
  type ToolProfile,
} from "./action-object.ts";
import { areOpposed, areRelated, kindOf, type VerbGroupName } from "./verb-groups.ts";

/** One tool of a ranking, with what both rankers say of it. */
export interface RankedTool {
  readonly tool: ProfiledTool;
  /** Cosine of request and tool; undefined where only words rank. */
  readonly cosine: number | undefined;
  /** Share of the request's weight that the tool's words cover, in [0, 1]; 1 only where the request is the tool's name. */
  readonly coverage: number;
}

/** What is read from a ranking, in the order the weights are written in. */
export const CONFIDENCE_FEATURES = [
  "cosine",
  "marginToSecond",
  "marginToFifth",
  "marginToTwentieth",
  "coverage",
  "coverageMargin",
  "agreement",
  "spread",
  "productFits",
  "productElsewhere",
  "namesUnknown",
  "objectsUnknown",
  "asksWrite",
  "topDoes",
  "homeDoes",
  "homeDoesToObject",
  "homeLacksWrite",
  "writeOnRead",
  "topUndoes",
] as const;
export type ConfidenceFeature = (typeof CONFIDENCE_FEATURES)[number];

/** Numbers around 0 to 1; NaN where the ranking is too short to say, which counts as the middle of what is usual. */
export type ConfidenceFeatures = Readonly<Record<ConfidenceFeature, number>>;

/** How much of a ranking is read. */
const READ = 30;
const BEST = 5;

/** Reads a ranking, best first, for what tells a request that is served from one that nothing serves. */
export function featuresOf(request: string, ranking: readonly RankedTool[]): ConfidenceFeatures {
  const asked = profileRequest(request);
  const read = ranking.slice(0, READ);
  const profiles = read.map(({ tool }) => profileTool(tool));
  const home = read[0]?.tool.namespace;
  const atHome = profiles.filter((_, at) => read[at]?.tool.namespace === home);
  return { ...readScores(read), ...readProducts(asked, profiles), ...readActions(asked, profiles[0], atHome) };
}

type Scores =
  | "cosine"
  | "marginToSecond"
  | "marginToFifth"
  | "marginToTwentieth"
  | "coverage"
  | "coverageMargin"
  | "agreement"
  | "spread";

function readScores(read: readonly RankedTool[]): Pick<ConfidenceFeatures, Scores> {
  const cosines = read.flatMap(({ cosine }) => cosine ?? []).sort((a, b) => b - a);
  const coverages = read.map(({ coverage }) => coverage).sort((a, b) => b - a);
  const [best = NaN] = cosines;
  const [mostCovered = 0] = coverages;
  const coverage = read[0]?.coverage ?? 0;
  return {
    cosine: best,
    marginToSecond: best - (cosines[1] ?? NaN),
    marginToFifth: best - (cosines[4] ?? NaN),
    marginToTwentieth: best - (cosines[19] ?? NaN),
    coverage,
    coverageMargin: mostCovered - (coverages[4] ?? 0),
    agreement: mostCovered > 0 ? coverage / mostCovered : 0,
    spread: read.length < BEST ? NaN : new Set(read.slice(0, BEST).map(({ tool }) => tool.namespace)).size / BEST,
  };
}

type Products = "productFits" | "productElsewhere" | "namesUnknown" | "objectsUnknown";

function readProducts(asked: RequestProfile, profiles: readonly ToolProfile[]): Pick<ConfidenceFeatures, Products> {
  const isNamed = ({ product }: ToolProfile): boolean =>
    asked.words.some((word) => product.has(word)) || asked.names.some((name) => product.has(name));
  const [top] = profiles;
  const fits = top !== undefined && isNamed(top);
  const isKnown = (name: string): boolean =>
    profiles.some(({ product, words }) => product.has(name) || words.has(name));
  const unknown = asked.objects.filter((word) => !profiles.some(({ words }) => words.has(word)));
  return {
    productFits: fits ? 1 : 0,
    productElsewhere: !fits && profiles.some(isNamed) ? 1 : 0,
    namesUnknown: asked.names.length > 0 && !asked.names.some(isKnown) ? 1 : 0,
    objectsUnknown: asked.objects.length === 0 ? 0 : unknown.length / asked.objects.length,
  };
}

type Actions =
  | "asksWrite"
  | "topDoes"
  | "homeDoes"
  | "homeDoesToObject"
  | "homeLacksWrite"
  | "writeOnRead"
  | "topUndoes";

/** `atHome` are the tools found in the best one's namespace, itself among them. */
function readActions(
  asked: RequestProfile,
  top: ToolProfile | undefined,
  atHome: readonly ToolProfile[],
): Pick<ConfidenceFeatures, Actions> {
  const [main] = asked.actions;
  const most = (rate: (profile: ToolProfile) => number): number => Math.max(0, ...atHome.map(rate));
  const doesMain = (profile: ToolProfile): number => (main === undefined ? 0 : fitOf(profile, main));
  const doesAny = (profile: ToolProfile): number =>
    Math.max(0, ...asked.actions.map((action) => fitOf(profile, action)));
  const covers = ({ words }: ToolProfile): number =>
    asked.objects.length === 0 ? 0 : asked.objects.filter((word) => words.has(word)).length / asked.objects.length;
  const writes = main !== undefined && kindOf(main) === "write";
  const offered = kindsOf(top?.actions ?? []);
  return {
    asksWrite: writes ? 1 : 0,
    topDoes: top === undefined ? 0 : doesMain(top),
    homeDoes: most(doesAny),
    homeDoesToObject: most((profile) => doesMain(profile) * covers(profile)),
    homeLacksWrite: writes && most(doesMain) < SURE ? 1 : 0,
    writeOnRead: writes && offered.size > 0 && !offered.has("write") && !offered.has("work") ? 1 : 0,
    topUndoes: main !== undefined && [...(top?.actions ?? [])].some((action) => areOpposed(main, action)) ? 1 : 0,
  };
}

/** From here up a tool says itself that it does what is asked. */
const SURE = 0.6;

/** How surely a tool does an action: its name says so, its description does, or it does something alike. */
function fitOf({ actions, mentioned }: ToolProfile, action: VerbGroupName): number {
  if (actions.has(action)) return 1;
  if (mentioned.has(action)) return 0.8;
  for (const offered of actions) if (areRelated(action, offered)) return 0.5;
  return 0;
}
