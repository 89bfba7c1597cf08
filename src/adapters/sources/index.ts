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
// The rest of toolarsenal/sources:
export type { DescribedInvoker, Invocable, InvocableContext, Invocables } from "./descriptor/invocable.ts";
export type { BuiltinParts, BuiltinSettings } from "./builtin/settings.ts";
export type {
  HttpSettings,
  McpServerSettings,
  OAuthSettings,
  StdioSettings,
  WebSocketSettings,
} from "./mcp/settings.ts";
export type { McpUpstream, UpstreamState } from "./mcp/upstream/upstream.ts";
export type { A2aAgentSettings, AddAgentOptions, ClientCertificateFiles } from "./a2a/settings.ts";
export type { BasicCredential, ClientCredential, Credential } from "./credentials/settings.ts";
export type { OpenApiSettings, OperationFilter } from "./openapi/settings.ts";
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
export type { OfferedTool, Source, SourceOptions } from "../../register/source.port.ts";
export { normaliseTool } from "../../tool/normalise/normalise-tool.ts";
