import {
  profileRequest,
  profileTool,
  type ProfiledTool,
  type RequestProfile,
  type ToolProfile,
} from "../understand/action-object.ts";
import { areOpposed, areRelated, kindOf, type VerbGroupName } from "../understand/verb-groups.ts";

/** One tool of a ranking, with the scores of both rankers. */
export interface RankedTool {
  readonly tool: ProfiledTool;
  /** Cosine of request and tool; undefined without embeddings. */
  readonly cosine: number | undefined;
  /** Share of the request's weight that the tool's words cover, in [0, 1]. It is 1 only if the request is the tool's name. */
  readonly coverage: number;
}

/** The features that measure how close the best tool is. */
export const CLOSENESS_FEATURES = ["best", "bestByWords", "words", "tools"] as const;
export type ClosenessFeature = (typeof CLOSENESS_FEATURES)[number];

export const CONFIDENCE_FEATURES = [
  ...CLOSENESS_FEATURES,
  "productFits",
  "homeDoesToObject",
  "homeLacksWrite",
  "writeOnRead",
  "topUndoes",
] as const;
export type ConfidenceFeature = (typeof CONFIDENCE_FEATURES)[number];

type ConfidenceFeatures = Readonly<Record<ConfidenceFeature, number>>;

/** The number of tools at the top of the ranking that are read. */
const READ = 30;
/** Larger catalogs count as this size, because the training data had none. */
const MOST_TOOLS = 1000;
/** In a shorter request (in content words), a verb or object that does not match a tool is not evidence against the tool. */
const ENOUGH_WORDS = 5;

/** Computes the features that separate requests with a suitable tool from others. The ranking is best first, from a catalog of `tools` tools. */
export function featuresOf(request: string, ranking: readonly RankedTool[], tools: number): ConfidenceFeatures {
  const asked = profileRequest(request);
  const read = ranking.slice(0, READ);
  const profiles = read.map(({ tool }) => profileTool(tool));
  const home = read[0]?.tool.namespace;
  const atHome = profiles.filter((_, at) => read[at]?.tool.namespace === home);
  const best = Math.max(0, ...read.map(({ cosine, coverage }) => cosine ?? coverage));
  const words = Math.log1p(asked.words.length);
  return {
    best,
    // Short requests are less similar to every tool, so the same cosine means more.
    bestByWords: best * words,
    words,
    tools: Math.log(Math.min(Math.max(tools, 1), MOST_TOOLS)),
    productFits: profiles[0] !== undefined && namesProduct(asked, profiles[0]) ? 1 : 0,
    ...(asked.words.length < ENOUGH_WORDS ? NO_ACTIONS : readActions(asked, profiles[0], atHome)),
  };
}

function namesProduct(asked: RequestProfile, { product }: ToolProfile): boolean {
  return asked.words.some((word) => product.has(word)) || asked.names.some((name) => product.has(name));
}

type Actions = "homeDoesToObject" | "homeLacksWrite" | "writeOnRead" | "topUndoes";

const NO_ACTIONS: Pick<ConfidenceFeatures, Actions> = {
  homeDoesToObject: 0,
  homeLacksWrite: 0,
  writeOnRead: 0,
  topUndoes: 0,
};

/** `atHome` are the found tools in the namespace of the best tool, including the best tool. */
function readActions(
  asked: RequestProfile,
  top: ToolProfile | undefined,
  atHome: readonly ToolProfile[],
): Pick<ConfidenceFeatures, Actions> {
  const [main] = asked.actions;
  const most = (rate: (profile: ToolProfile) => number): number => Math.max(0, ...atHome.map(rate));
  const doesMain = (profile: ToolProfile): number => (main === undefined ? 0 : fitOf(profile, main));
  const covers = ({ words }: ToolProfile): number =>
    asked.objects.length === 0 ? 0 : asked.objects.filter((word) => words.has(word)).length / asked.objects.length;
  const writes = main !== undefined && kindOf(main) === "write";
  const offered = [...(top?.actions ?? [])];
  return {
    homeDoesToObject: most((profile) => doesMain(profile) * covers(profile)),
    homeLacksWrite: writes && most(doesMain) < SURE ? 1 : 0,
    writeOnRead: writes && offered.length > 0 && offered.every((action) => kindOf(action) === "read") ? 1 : 0,
    topUndoes: main !== undefined && offered.some((action) => areOpposed(main, action)) ? 1 : 0,
  };
}

/** From this value on, the tool's own text states the action. */
const SURE = 0.6;

/** Returns how certainly a tool performs an action: stated in its name, in its description, or only a similar action. */
function fitOf({ actions, mentioned }: ToolProfile, action: VerbGroupName): number {
  if (actions.has(action)) return 1;
  if (mentioned.has(action)) return 0.8;
  for (const offered of actions) if (areRelated(action, offered)) return 0.5;
  return 0;
}
