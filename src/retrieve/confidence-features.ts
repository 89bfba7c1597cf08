import { kindsOf, profileRequest, profileTool, type ProfiledTool, type RequestProfile, type ToolProfile } from "./action-object.ts";
import { kindOf } from "./verb-groups.ts";

/** One tool of a ranking, with what both rankers say of it. */
export interface RankedTool {
  readonly tool: ProfiledTool;
  /** Cosine of request and tool; undefined where only words rank. */
  readonly cosine: number | undefined;
  /** Share of the request's weight that the tool's words cover, in [0, 1]. */
  readonly coverage: number;
}

/** What speaks for and against the best tool of a ranking, as numbers around 0 to 1. */
export type ConfidenceFeatures = Readonly<Record<string, number>>;

const NEAR = 5;
const FIELD = 30;

/** Reads a ranking, best first, for what tells a served request from one that nothing serves. */
export function featuresOf(request: string, ranking: readonly RankedTool[]): ConfidenceFeatures {
  const asked = profileRequest(request);
  const field = ranking.slice(0, FIELD);
  const profiles = field.map(({ tool }) => profileTool(tool));
  return { ...scoreFeatures(field), ...actionFeatures(asked, field, profiles), ...nameFeatures(asked, field, profiles) };
}

function scoreFeatures(field: readonly RankedTool[]): ConfidenceFeatures {
  const cosines = field.map(({ cosine }) => cosine ?? 0);
  const sorted = cosines.toSorted((a, b) => b - a);
  const best = sorted[0] ?? 0;
  const coverages = field.map(({ coverage }) => coverage).toSorted((a, b) => b - a);
  const bestCoverage = coverages[0] ?? 0;
  const top = field[0];
  const home = top?.tool.namespace;
  const siblings = field.slice(1).filter(({ tool }) => tool.namespace === home);
  const strangers = field.filter(({ tool }) => tool.namespace !== home);
  const mean = (values: readonly number[], fallback: number): number =>
    values.length === 0 ? fallback : values.reduce((sum, value) => sum + value, 0) / values.length;
  return {
    cosine: best,
    margin2: best - (sorted[1] ?? 0),
    margin5: best - (sorted[4] ?? 0),
    margin20: best - (sorted[19] ?? 0),
    meanTop5: mean(sorted.slice(0, 5), 0),
    coverage: top?.coverage ?? 0,
    bestCoverage,
    coverageMargin: bestCoverage - (coverages[4] ?? 0),
    agreement: bestCoverage > 0 ? (top?.coverage ?? 0) / bestCoverage : 0,
    bestIsBoth: bestCoverage > 0 && top?.coverage === bestCoverage && top.cosine === best ? 1 : 0,
    siblingMargin: siblings.length === 0 ? 0.2 : best - Math.max(...siblings.map(({ cosine }) => cosine ?? 0)),
    siblingMean: best - mean(siblings.map(({ cosine }) => cosine ?? 0), best - 0.3),
    strangerMargin: best - Math.max(0, ...strangers.map(({ cosine }) => cosine ?? 0)),
    siblings: siblings.length / 10,
    siblingsNear: field.slice(1, NEAR).filter(({ tool }) => tool.namespace === home).length / (NEAR - 1),
  };
}

function actionFeatures(asked: RequestProfile, field: readonly RankedTool[], profiles: readonly ToolProfile[]): ConfidenceFeatures {
  const main = asked.actions[0];
  const top = profiles[0];
  const best = field[0]?.cosine ?? 0;
  const near = profiles.filter((_, at) => at < NEAR && best - (field[at]?.cosine ?? 0) < 0.15);
  const has = (profile: ToolProfile | undefined): number =>
    profile === undefined || main === undefined ? 0 : profile.actions.has(main) ? 1 : profile.mentioned.has(main) ? 0.7 : 0;
  const kind = main === undefined ? undefined : kindOf(main);
  const kindFit = (profile: ToolProfile | undefined): number => {
    if (profile === undefined || kind === undefined || profile.actions.size === 0) return 0.5;
    const kinds = kindsOf(profile.actions);
    return kinds.has(kind) ? 1 : kind === "work" || kinds.has("work") ? 0.5 : 0;
  };
  const covers = (words: readonly string[], profile: ToolProfile | undefined): number =>
    words.length === 0 || profile === undefined ? 0 : words.filter((word) => profile.words.has(word)).length / words.length;
  const nameShare = (profile: ToolProfile | undefined): number => {
    if (profile === undefined) return 0;
    const own = [...profile.nameWords].filter((word) => !profile.product.has(word));
    return own.length === 0 ? 0 : own.filter((word) => asked.words.includes(word)).length / own.length;
  };
  const objectSomewhere = asked.objects.filter((word) => profiles.some((profile) => profile.words.has(word))).length;
  return {
    knownAction: main === undefined ? 0 : 1,
    asksRead: kind === "read" ? 1 : 0,
    asksWrite: kind === "write" ? 1 : 0,
    sameAction: has(top),
    anyAction: top === undefined ? 0 : Math.max(0, ...asked.actions.map((action) => (top.mentioned.has(action) ? 1 : 0))),
    nearAction: Math.max(0, ...near.map(has)),
    kindFit: kindFit(top),
    nearKindFit: Math.max(0, ...near.map(kindFit)),
    writeOnRead: kind === "write" && top !== undefined && kindFit(top) === 0 ? 1 : 0,
    readOnWrite: kind === "read" && top !== undefined && kindFit(top) === 0 ? 1 : 0,
    objects: covers(asked.objects, top),
    nearObjects: Math.max(0, ...near.map((profile) => covers(asked.objects, profile))),
    unknownObjects: asked.objects.length === 0 ? 0 : 1 - objectSomewhere / asked.objects.length,
    nameShare: nameShare(top),
    nearNameShare: Math.max(0, ...near.map(nameShare)),
    actionObject: has(top) * covers(asked.objects, top),
    nearActionObject: Math.max(0, ...near.map((profile) => has(profile) * (0.3 + covers(asked.objects, profile)))),
    length: Math.log1p(asked.words.length) / 4,
  };
}

function nameFeatures(asked: RequestProfile, field: readonly RankedTool[], profiles: readonly ToolProfile[]): ConfidenceFeatures {
  const top = profiles[0];
  const productNamed = (profile: ToolProfile): boolean =>
    asked.words.some((word) => profile.product.has(word)) || asked.names.some((name) => profile.product.has(name));
  const unknown = asked.names.filter(
    (name) => !profiles.some((profile) => profile.product.has(name) || profile.words.has(name) || profile.words.has(name.toLowerCase())),
  );
  const named = profiles.findIndex(productNamed);
  return {
    productFit: top !== undefined && productNamed(top) ? 1 : 0,
    productElsewhere: top !== undefined && !productNamed(top) && named > 0 ? 1 : 0,
    names: Math.min(asked.names.length, 3) / 3,
    unknownNames: Math.min(unknown.length, 3) / 3,
    allNamesUnknown: asked.names.length > 0 && unknown.length === asked.names.length ? 1 : 0,
    namespaces: new Set(field.slice(0, NEAR).map(({ tool }) => tool.namespace)).size / NEAR,
  };
}
