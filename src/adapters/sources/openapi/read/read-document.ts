import { messageOf } from "../../../../errors/show-value.ts";
import type { OfferedTool } from "../../../../register/source.port.ts";
import { asText } from "../../../../tool/json-schema.ts";
import type { Security } from "../../credentials/security.ts";
import { type CallParts, createHandler } from "../call/call-operation.ts";
import type { OpenApiSettings } from "../settings.ts";
import { type Arguments, layOut } from "../tool/arguments.ts";
import { toDraft } from "../tool/to-draft.ts";
import type { LoadedDocument } from "./load-document.ts";
import { listOperations, type Operation, type Problem } from "./operations.ts";
import { readBody, readReturns } from "./read-body.ts";
import { readParameters } from "./read-parameters.ts";
import { createReferences } from "./references.ts";
import { readSecurity } from "./security.ts";
import { chooseServer, type Server } from "./servers.ts";

/** An operation that is ready to become a tool. */
export interface ReadOperation extends Operation {
  /** Unique in the document: the operationId, or method and path. */
  readonly sourceName: string;
  readonly arguments: Arguments;
  readonly security: Security;
  /** The `Accept` header of its requests. */
  readonly accept: string;
  /** The schema of the response in the document. */
  readonly returns: unknown;
  /** Returns the server. Throws CONFIG_INVALID if neither the settings nor the document name one. */
  readonly server: () => Server;
}

export type ReadDocument = ReturnType<typeof readDocument>;

/** Converts each operation to a tool. Reports broken operations; the others are still converted. */
export function readDocument(loaded: LoadedDocument, settings: OpenApiSettings, parts: CallParts) {
  const { root, url } = loaded;
  const references = createReferences(root);
  const { operations, problems: unread } = listOperations(root, references, settings);
  const problems: Problem[] = [...loaded.problems, ...unread];
  const tools: OfferedTool[] = [];
  const usable: ReadOperation[] = [];
  const taken = new Set<string>();
  const { document, filesFrom } = settings;
  const sourceUri = url?.replace(/[?#].*$/, "") ?? (typeof document === "string" ? document : undefined);

  for (const operation of operations) {
    const { title, definition } = operation;
    const id = asText(definition["operationId"]);
    const sourceName = id === undefined || id.trim() === "" || taken.has(id) ? title : id;
    taken.add(sourceName);
    try {
      const { parameters, bodies } = readParameters(operation, references);
      const security = readSecurity(definition, root, references);
      const body = readBody(definition, bodies, references);
      const { schema: returns, accept } = readReturns(definition, references);
      const asked = parameters.filter((parameter) => !isCredential(parameter, security));
      const read: ReadOperation = {
        ...operation,
        sourceName,
        arguments: layOut(asked, body, references, filesFrom !== undefined),
        security,
        accept,
        returns,
        server: () => chooseServer(operation, { root, documentUrl: url, settings }),
      };
      const { draft, external } = toDraft(read, { references, settings, sourceUri });
      tools.push({ draft, handler: createHandler(read, parts) });
      usable.push(read);
      for (const reference of external) {
        const reason = `${reference} is another document, which is not read`;
        problems.push({ operation: title, reason, skipped: false });
      }
    } catch (error) {
      problems.push({ operation: title, reason: messageOf(error), skipped: true });
    }
  }
  return { tools, problems, operations: usable };
}

/** Some documents name a key both as a security scheme and as a parameter. A model must not supply the key. */
function isCredential(parameter: { readonly in: string; readonly name: string }, security: Security): boolean {
  return security.flat().some(({ scheme }) => {
    if (scheme.type !== "apiKey" || scheme.in !== parameter.in) return false;
    return scheme.in === "header"
      ? scheme.name.toLowerCase() === parameter.name.toLowerCase()
      : scheme.name === parameter.name;
  });
}
