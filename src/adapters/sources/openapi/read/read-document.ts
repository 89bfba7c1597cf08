import { messageOf } from "../../../../errors/show-value.ts";
import { layOut } from "../tool/arguments.ts";
import { type CallParts, createHandler, type OperationPlan } from "../call/call-operation.ts";
import type { LoadedDocument } from "./load-document.ts";
import { listOperations, type Operation, type Problem, titleOf } from "./operations.ts";
import { readBody, readReturns } from "./read-body.ts";
import { readParameters } from "./read-parameters.ts";
import { createReferences, type References } from "./references.ts";
import type { Security } from "../../credentials/security.ts";
import { readSecurity } from "./security.ts";
import { chooseServer, type Server } from "./servers.ts";
import type { OpenApiSettings } from "../settings.ts";
import { type ReadOperation, sourceNameOf, toDraft } from "../tool/to-draft.ts";
import type { OfferedTool } from "../../../../register/source.port.ts";

/** The tools of a document. */
export type ReadDocument = ReturnType<typeof readDocument>;

/** Makes one tool of each operation. One that is broken is reported, and the others are made all the same. */
export function readDocument(
  { root, url, problems: before }: LoadedDocument,
  settings: OpenApiSettings,
  parts: CallParts,
) {
  const references = createReferences(root);
  const { operations, problems: unread } = listOperations(root, references, settings);
  const problems: Problem[] = [...before, ...unread];
  const tools: OfferedTool[] = [];
  const taken = new Set<string>();
  const sourceUri =
    url?.replace(/[?#].*$/, "") ?? (typeof settings.document === "string" ? settings.document : undefined);

  for (const operation of operations) {
    const title = titleOf(operation);
    const sourceName = sourceNameOf(operation, taken);
    taken.add(sourceName);
    try {
      const { returns, accept, ...read } = readOperation(operation, references, settings, root);
      const server = (): Server => chooseServer(operation, { root, documentUrl: url, settings });
      const known = { ...read, operation, sourceName, returns, server: baseOf(server) };
      const { draft, external } = toDraft(known, { references, settings, sourceUri });
      const plan: OperationPlan = { ...operation, ...read, title, accept, server };
      tools.push({ draft, handler: createHandler(plan, parts) });
      for (const reference of external) {
        const reason = `${reference} is another document, which is not read`;
        problems.push({ operation: title, reason, skipped: false });
      }
    } catch (error) {
      const reason = messageOf(error);
      problems.push({ operation: title, reason, skipped: true });
    }
  }
  return { tools, problems };
}

/** A server that cannot be told is told of when it is called. */
function baseOf(server: () => Server): string | undefined {
  try {
    return server().base;
  } catch {
    return undefined;
  }
}

function readOperation(
  operation: Operation,
  references: References,
  settings: OpenApiSettings,
  root: LoadedDocument["root"],
): Omit<ReadOperation, "operation" | "sourceName" | "server"> & { readonly accept: string } {
  const { definition } = operation;
  const { parameters, bodies } = readParameters(operation, references);
  const security = readSecurity(definition, root, references);
  const body = readBody(definition, bodies, references);
  const { schema: returns, accept } = readReturns(definition, references);
  const asked = parameters.filter((parameter) => !isCredential(parameter, security));
  return { arguments: layOut(asked, body, references, settings.filesFrom !== undefined), security, returns, accept };
}

/** Some documents name a key both as a security scheme and as a parameter. A model is never asked for it. */
function isCredential(parameter: { readonly in: string; readonly name: string }, security: Security): boolean {
  return security.flat().some(({ scheme }) => {
    if (scheme.type !== "apiKey" || scheme.in !== parameter.in) return false;
    return scheme.in === "header"
      ? scheme.name.toLowerCase() === parameter.name.toLowerCase()
      : scheme.name === parameter.name;
  });
}
