/** What a provider sent, in its own wire format, and what must be read from it. */
export interface Recording {
  readonly dialect: string;
  /** What the model was doing. */
  readonly title: string;
  /** A whole answer, or the events of a streamed one. */
  readonly answer?: unknown;
  readonly events?: readonly unknown[];
  /** The calls in it: name and arguments, or undefined where the arguments cannot be read. */
  readonly calls: readonly (readonly [name: string, args: Readonly<Record<string, unknown>> | undefined])[];
}

/** The two calls that the parallel recordings make. */
export const PARALLEL: Recording["calls"] = [
  ["weather-get_forecast", { city: "Paris", days: 2 }],
  ["weather-get_forecast", { city: "Kraków" }],
];
