import type { EmbedOptions } from "../../../catalog/embedder.port.ts";
import { calibrateCosine } from "../../../retrieve/fuse/calibrate.ts";

/** Requests, each with its matching tool. Their subjects differ, so a tool matches only its own request. */
export const PAIRS: readonly (readonly [request: string, tool: string])[] = [
  ["send an email to a colleague", "mail send message: Sends an email to one or more recipients."],
  ["what is the weather like tomorrow", "weather get forecast: Returns the weather forecast for a place and a day."],
  ["refund the last order of this customer", "payments create refund: Refunds a payment, in full or in part."],
  ["find a cheap flight", "travel search flights: Searches flights by route, date and price."],
  ["run a query on the sales database", "database run query: Runs an SQL query and returns its rows."],
  ["turn on the lights in the kitchen", "home set light: Switches a light on or off and sets its brightness."],
  ["translate this paragraph into French", "language translate text: Translates a text into another language."],
  ["resize the picture to 800 pixels", "images resize image: Changes the size of an image."],
];

/**
 * A match is worth showing above this fraction of the distance from foreign to matching pairs. On labelled sets, the shipped models have 0.34 and
 * 0.39.
 */
const WORTH_SHOWING = 1 / 3;
const onScale = calibrateCosine(WORTH_SHOWING);
/** The scale before the measurement. */
const usual = calibrateCosine(0.3);
/** If matching and foreign pairs differ by less than this, the model is not informative. */
const LEAST_GAP = 0.02;

/** Measures the scale of a model's cosines, because it varies: one model uses 0 to 0.6, another 0.7 to 0.9. */
export function createSelfCalibration(
  embed: (texts: readonly string[], options: EmbedOptions) => Promise<readonly Float32Array[]>,
) {
  let scale: { readonly foreign: number; readonly gap: number } | undefined;
  let measuring: Promise<void> | undefined;

  async function measure(options: Pick<EmbedOptions, "signal" | "background">): Promise<void> {
    const asked = PAIRS.map(([request]) => request);
    const offered = PAIRS.map(([, tool]) => tool);
    const [requests, tools] = await Promise.all([
      embed(asked, { ...options, kind: "query" }),
      embed(offered, { ...options, kind: "tool" }),
    ]);
    const cosines = requests.map((request) => tools.map((tool) => product(request, tool)));
    const fitting = mean(cosines.map((row, at) => row[at] ?? 0));
    const foreign = mean(cosines.flatMap((row, at) => row.filter((_, other) => other !== at)));
    scale = { foreign, gap: fitting - foreign };
  }

  return {
    /** Embeds a few pairs of request and tool, once. Rejects only when the signal fires; after any other failure, the default scale applies. */
    measure(options: Pick<EmbedOptions, "signal" | "background">): Promise<void> {
      if (scale !== undefined) return Promise.resolve();
      // A failed measurement is repeated with the next texts.
      measuring ??= measure(options)
        .catch(() => {})
        .finally(() => (measuring = undefined));
      return measuring;
    },
    /** Maps a cosine to [0, 1]. At 0.5, a match is worth showing. */
    calibrate(cosine: number): number {
      if (scale === undefined || scale.gap < LEAST_GAP) return usual(cosine);
      return onScale((cosine - scale.foreign) / scale.gap);
    },
  };
}

function product(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
