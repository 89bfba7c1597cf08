/** Type assertions: this file is right where it compiles. Each `@ts-expect-error` is a control that would fail if inference gave up. */
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import type { ArgumentsOf, ParametersSchema, StandardSchema } from "../../src/tool/infer.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
declare function assertType<Claim extends true>(): Claim;

/** As `register` infers it: a literal stays a literal. */
declare function argumentsOf<const Schema extends ParametersSchema>(schema: Schema): ArgumentsOf<Schema>;

/** Never run. */
export function claims(): readonly ParametersSchema[] {
  const zodSchema = z.object({ city: z.string(), days: z.number().optional() });
  const arkSchema = type({ city: "string", "days?": "number" });
  const valibotSchema = v.object({ city: v.string(), days: v.optional(v.number()) });
  const convertedSchema = toStandardJsonSchema(valibotSchema);

  const accepted: readonly StandardSchema[] = [zodSchema, arkSchema, valibotSchema, convertedSchema];
  const acceptedAsParameters: readonly ParametersSchema[] = [
    ...accepted,
    { type: "object", properties: { a: { type: "string" } } },
  ];

  // @ts-expect-error a schema without a check is no Standard Schema
  argumentsOf<StandardSchema>({ "~standard": { version: 1, vendor: "x" } });

  type Weather = { city: string; days?: number | undefined };
  assertType<Equal<ArgumentsOf<typeof zodSchema>, Weather>>();
  assertType<Equal<ArgumentsOf<typeof valibotSchema>, Weather>>();
  assertType<Equal<ArgumentsOf<typeof convertedSchema>, Weather>>();
  assertType<Equal<ArgumentsOf<typeof arkSchema>, { city: string; days?: number }>>();
  // @ts-expect-error inferred, and not the same as anything
  assertType<Equal<ArgumentsOf<typeof zodSchema>, { city: string; days?: string }>>();
  // @ts-expect-error inferred, and not unknown
  assertType<Equal<ArgumentsOf<typeof valibotSchema>, unknown>>();
  // @ts-expect-error inferred, and not unknown
  assertType<Equal<ArgumentsOf<typeof arkSchema>, unknown>>();

  const transformed = z.object({ n: z.string().transform(Number), k: z.number().default(3) });
  assertType<Equal<ArgumentsOf<typeof transformed>, { n: number; k: number }>>();
  // @ts-expect-error a handler gets what comes out of the schema, not what went in
  assertType<Equal<ArgumentsOf<typeof transformed>, { n: string; k?: number | undefined }>>();

  const args = argumentsOf({
    type: "object",
    properties: {
      city: { type: "string" },
      days: { type: "integer" },
      units: { enum: ["metric", "imperial"] },
      tags: { type: "array", items: { type: "string" } },
      place: { type: "object", properties: { lat: { type: "number" } }, required: ["lat"] },
      exact: { const: true },
    },
    required: ["city", "units"],
  });
  args satisfies {
    city: string;
    days?: number;
    units: "metric" | "imperial";
    tags?: string[];
    place?: { lat: number };
    exact?: true;
  };
  args.city.toUpperCase();
  args.days?.toFixed();
  // @ts-expect-error not required, so possibly absent
  args.days.toFixed();
  // @ts-expect-error no such parameter
  String(args.town);
  // @ts-expect-error not one of the values
  args.units satisfies "metric";

  assertType<Equal<ArgumentsOf<{ readonly type: "object" }>, Record<string, unknown>>>();

  return acceptedAsParameters;
}
