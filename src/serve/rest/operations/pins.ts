import { fixable } from "../../../errors/arsenal-error.ts";
import { PIN_STATES, type Pins } from "../../../guard/pins/pins.ts";
import { SEVERITIES } from "../../../guard/scan/finding.ts";
import { answer, type Operation, operationsOf, type RestContext, type RestResponse } from "../operation.ts";
import { choice, entry, flag, list, refined, string, strings, time } from "../../../tool/shape/shape.ts";
import { administrationOf } from "./administered.ts";

const operation = operationsOf({ tag: "Pins" });

const PIN = entry(
  "A tool of a server, its instructions (`NAME#instructions`) or its command (`NAME#command`), with its accepted and its current definition.",
  {
    id: string("The tool's id, or `NAME#instructions`."),
    ensemble: string("The server or document that the tool belongs to."),
    state: choice(
      "The state of the pin. Tools in the states `changed` and `new` cannot be called. `conflict`: the tool is accepted, but another process wrote a different definition into the shared catalog.",
      PIN_STATES,
    ),
    hash: string("SHA-256 of the current definition."),
    diff: strings(
      "Lines: `-` for the accepted definition, `+` for the current one. Empty if the current one is accepted.",
    ),
    seenAt: time("When the pin entered this state."),
    acceptedBy: string(
      "Who accepted the definition. Omitted if it was accepted automatically when first seen, or is not accepted.",
    ),
    refusedBy: string("Who decided to keep refusing this version. Omitted if the decision is still open."),
    findings: list(
      "The scanner's findings in the current definition, worst first, if `findings` is set. Omitted if the definition is accepted, or if definitions are not scanned.",
      entry(
        "A sign of an attack.",
        {
          rule: string("The rule: `injection.override`."),
          severity: choice("The severity.", SEVERITIES),
          message: string("The meaning of the finding."),
          path: string("The position: `parameters.properties.city.description`."),
          excerpt: string("The matching text, shortened."),
          hidden: string("The hidden text, if any."),
        },
        ["rule", "severity", "message", "excerpt"],
      ),
    ),
  },
  ["id", "ensemble", "state", "hash", "diff", "seenAt"],
);

const params = entry("", { id: string("The pin's id.") }, ["id"]);

const HASH = refined(
  string(
    "The hash of the definition from the list, or at least its first 16 digits. Later definitions are not affected.",
  ),
  { pattern: "^[0-9a-f]{16,64}$" },
);

export const pinOperations: readonly Operation[] = [
  operation("listPins", "GET /pins", {
    summary: "List the tools and instructions of servers, and their changes since they were accepted",
    role: "operator or approver",
    description: "An operator or approver of a tenant sees the pins of servers whose tools the tenant may use.",
    tenants: "own",
    query: entry("", {
      state: list("Only pins in one of these states: `changed,new`.", choice("", PIN_STATES)),
      id: string("Only the pin with this id."),
      whole: flag("Show whole values in `diff`, not excerpts."),
      findings: flag("Scan definitions that are not accepted, and show the findings."),
    }),
    answers: { 200: answer("The pins, ordered by id.", { pins: list("Ordered by id.", PIN) }, ["pins"]) },
    async run({ query: { state: states, ...shown }, principal }, context) {
      const isSeen = await administrationOf(context).seenEnsembles(principal);
      const pins = (await context.arsenal.pins?.list({ states, ...shown })) ?? [];
      return { body: { pins: pins.filter(({ ensemble }) => isSeen(ensemble)) } };
    },
  }),
  operation("acceptPin", "POST /pins/{id}/accept", {
    role: "approver",
    tenants: "none",
    summary: "Accept the current version of a tool, or of a server's instructions",
    params,
    body: entry("", {
      hash: HASH,
      confirmAnnotations: flag("Also trust the tool's annotations, such as read-only, for this definition only."),
    }),
    answers: { 204: { description: "The tool can be called from now on." } },
    statuses: [404],
    run: ({ params: { id }, body, principal }, context) =>
      decide(id, context, (pins) => pins.accept(id, principal, body)),
  }),
  operation("refusePin", "POST /pins/{id}/refuse", {
    role: "approver",
    tenants: "none",
    summary: "Keep refusing the current version of a tool, or of a server's instructions",
    description:
      "The version stays blocked and needs no further decision. If the server changes it again, the new version needs a decision.",
    params,
    body: entry("", { hash: HASH }),
    answers: { 204: { description: "The version stays blocked." } },
    statuses: [404],
    targets: ({ params: { id } }) => [id],
    run: ({ params: { id }, body, principal }, context) =>
      decide(id, context, (pins) => pins.refuse(id, principal, body)),
  }),
];

/** Applies a decision to a pin. Answers 404 if no pin has the id. */
async function decide(
  id: string,
  context: RestContext,
  decision: (pins: Pins) => Promise<void>,
): Promise<RestResponse> {
  administrationOf(context);
  const { pins } = context.arsenal;
  const known = pins === undefined ? [] : await pins.list({ id });
  try {
    if (pins !== undefined) {
      await decision(pins);
      return { status: 204 };
    }
  } catch (error) {
    if (known.length > 0) throw error;
  }
  const problem = "No server offers anything with this id.";
  const details = { field: "id", value: id };
  return { refused: fixable("INPUT_INVALID", problem, "List them with GET /api/v1/pins.", details), status: 404 };
}
