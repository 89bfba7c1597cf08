// From manifest.ts, by `npm run derive`:
export {
  scriptsSource,
  type ScriptProblem,
  type ScriptsParts,
  type ScriptsSettings,
  type ScriptsSource,
} from "./scripts/scripts.ts";
export { builtinSource } from "./builtin/builtin.ts";
export {
  descriptorSource,
  type DescriptorParts,
  type DescriptorSettings,
  type DescriptorSource,
  type InvokerProblem,
} from "./descriptor/descriptor.ts";
export { type WorkflowsSettings } from "./workflows/workflows.ts";
// The rest of toolarsenal/sources:
export type { DescribedInvoker, Invocable, InvocableContext, Invocables } from "./descriptor/invocable.ts";
export { builtins, type BuiltinParts, type BuiltinSettings } from "./builtin/settings.ts";
export { descriptors } from "./descriptor/settings.ts";
export {
  mcp,
  type HttpSettings,
  type McpServerSettings,
  type OAuthSettings,
  type StdioSettings,
  type WebSocketSettings,
} from "./mcp/settings.ts";
export type { McpUpstream, UpstreamState } from "./mcp/upstream/upstream.ts";
export { a2a, type A2aAgentSettings, type ClientCertificateFiles } from "./a2a/settings.ts";
export type { BasicCredential, ClientCredential, Credential } from "./credentials/settings.ts";
export { openapi, type OpenApiSettings, type OperationFilter } from "./openapi/settings.ts";
export { scripts } from "./scripts/settings.ts";
export { workflows } from "./workflows/settings.ts";
export { defineWorkflow, type WorkflowDefinition, type WorkflowStep } from "./workflows/definition.ts";
export type { AddSourceOptions, GivenSource, NamedSource } from "./named-source.ts";
export type { EgressRules } from "../../guard/egress/check-url.ts";
export {
  createEgress,
  type Egress,
  type ClientCertificate,
  type EgressRequest,
  type EgressResponse,
  type ProgramRules,
} from "../../guard/egress/egress.ts";
export { createFileRoots, type FileRoots } from "../../guard/file-roots.ts";
export type { SecretReference } from "../../guard/secrets/reference.ts";
export type { OfferedTool, Source, SourceFinding, SourceOptions } from "../../register/source.port.ts";
export { normaliseTool } from "../../tool/normalise/normalise-tool.ts";
