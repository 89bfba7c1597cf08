import type { JwtAlgorithm } from "../adapters/identity/jwt/algorithms.ts";
import type { ClaimNames } from "../adapters/identity/jwt/claims.ts";
import type { BuiltinTool, FileSettings, HttpSettings } from "../adapters/sources/builtin/settings.ts";
import type { RefuseMode } from "../retrieve/query.ts";
import type { OpenApiConfig } from "./openapi-config.ts";
import type { RoutingWeights } from "../retrieve/result.ts";
import type { Capability } from "../tool/tool.ts";

/** Everything that can be configured. Every key is optional and says its default. Files write keys in snake_case (`config.schema.json`). */
export interface ToolArsenalConfig {
  readonly vectorStore?: VectorStoreConfig;
  readonly embedder?: EmbedderConfig;
  readonly reranker?: RerankerConfig;
  readonly routing?: RoutingConfig;
  readonly execution?: ExecutionConfig;
  readonly telemetry?: TelemetryConfig;
  readonly security?: SecurityConfig;
  readonly state?: StateConfig;
  readonly audit?: AuditConfig;
  readonly mcp?: McpConfig;
  /** OpenAPI documents whose operations are used as tools. */
  readonly openapi?: readonly OpenApiConfig[];
  readonly server?: ServerConfig;
  readonly a2a?: A2aConfig;
  readonly builtins?: BuiltinsConfig;
  readonly arsenal?: ShortFormConfig;
  /** JavaScript or TypeScript modules that register tools: each default export is called with the arsenal. Paths from the file's folder. */
  readonly modules?: readonly string[];
  /** Whether `retrieve` and `execute` first index what is pending. Default true. */
  readonly autoSync?: boolean;
  /** Whether `register` starts indexing at once. Default false. */
  readonly syncOnRegister?: boolean;
}

export interface VectorStoreConfig {
  /** Default `memory`. */
  readonly type?: "memory" | "sqlite" | "qdrant" | "chroma" | "pgvector" | "pinecone" | "weaviate";
  /** For `memory`: a file the tools are kept in between runs. None by default. */
  readonly snapshot?: string;
  /** For `sqlite`: the database file, which processes may share. Default `./.toolarsenal/catalog.sqlite`. */
  readonly file?: string;
  readonly url?: string;
  readonly apiKey?: string;
  /** Default `tool_arsenal`. */
  readonly collectionName?: string;
  readonly dimension?: number;
  readonly options?: Readonly<Record<string, unknown>>;
}

export interface EmbedderConfig {
  /** Default `sentence_transformers`: the embedder that ships with the package. */
  readonly type?: "openai" | "azure" | "cohere" | "huggingface" | "sentence_transformers" | "ollama";
  /** The best of the shipped rankers that may answer. Default `tuned`, or what the environment's `TOOLARSENAL_TIER` says. */
  readonly tier?: "lexical" | "static" | "tuned";
  /** A folder that keeps the vectors of tools between runs; true for the user's cache folder. Defaults to true for commands, false for the library. */
  readonly cache?: string | boolean;
  readonly model?: string;
  readonly apiKey?: string;
  readonly apiBase?: string;
  /** Default 100. */
  readonly batchSize?: number;
  /** Default 3. */
  readonly maxRetries?: number;
}

export interface RerankerConfig {
  /** Default false. */
  readonly enabled?: boolean;
  /** Default `cross_encoder`. */
  readonly type?: "cohere" | "cross_encoder" | "llm";
  readonly model?: string;
  /** How many of the best candidates are ordered again. Default 10. */
  readonly topK?: number;
}

export interface RoutingConfig {
  /** Default 0.6 semantic, 0.15 intent, 0.1 conversation, 0.1 health, 0.05 cost. */
  readonly weights?: Partial<Omit<RoutingWeights, "learned">>;
  readonly penalties?: PenaltyConfig;
  /** Default true. */
  readonly enableIntentClassification?: boolean;
  /** Default false. */
  readonly useLlmForIntent?: boolean;
  /** Default true. */
  readonly enableMmr?: boolean;
  /** 1: by score alone; 0: as different as possible. Default 0.7. */
  readonly mmrLambda?: number;
  /** Leaves out tools with a lower semantic score. Default 0.5, which never leaves out every tool. */
  readonly scoreThreshold?: number;
  /** When a request is answered with no tools. Default `confident`. */
  readonly refuse?: RefuseMode;
  readonly learning?: LearningConfig;
}

/** Learning from use: which tool was called after a retrieval, and whether it worked. */
export interface LearningConfig {
  /** Default false. */
  readonly enabled?: boolean;
  /** Days after which what was learned counts half. Default 14. */
  readonly halfLifeDays?: number;
  /** How much what was learned counts beside the other signals. Default 0.08. */
  readonly weight?: number;
}

/** What is taken off a tool's score. */
export interface PenaltyConfig {
  /** Default 0.05. */
  readonly alreadyUsed?: number;
  /** Default 0.3. */
  readonly alreadyFailed?: number;
  /** Default 0.2. */
  readonly deprecated?: number;
}

export interface ExecutionConfig {
  /** Time one attempt may take. Default 30,000. */
  readonly defaultTimeoutMs?: number;
  /** Attempts in all at a call that is safe to repeat. Default 3. */
  readonly maxRetries?: number;
  /** The first wait between attempts, doubled each time, with jitter. Default 200. */
  readonly retryBaseMs?: number;
  /** Consecutive failures that open a tool's circuit. Default 5. */
  readonly circuitBreakerThreshold?: number;
  /** Seconds a circuit stays open before one call may probe it. Default 60. */
  readonly circuitBreakerTimeoutS?: number;
  /** Calls that run at once, over all tools. Default 256. */
  readonly maxConcurrent?: number;
  /** Calls that run at once in one ensemble, always fewer than `maxConcurrent`. Default 32, or less than half of `maxConcurrent`. */
  readonly maxConcurrentPerEnsemble?: number;
  /** Repeated attempts, as a share of the calls to one ensemble, that may be made in a minute. Default 0.2. */
  readonly retryBudget?: number;
  /** The most a result may measure, in bytes. Default 16,777,216. */
  readonly maxResultBytes?: number;
  /** What `execute` does with a result that is no success: `return` it, or `throw` it. Default `return`. */
  readonly onFailure?: "return" | "throw";
  /** Whether functions run in the sandbox that `sandboxType` names, which must then be one. Default false. */
  readonly enableSandbox?: boolean;
  /** Default `none`. */
  readonly sandboxType?: "none" | SandboxName;
}

/** The sandboxes that can be configured. */
export type SandboxName = "subprocess" | "docker" | "bubblewrap" | "isolate";

export interface TelemetryConfig {
  /** By default the command line writes events, and the library is silent unless `type` or `level` is set. */
  readonly enabled?: boolean;
  /** Default `console`: one JSON line per event on stderr. */
  readonly type?: "console" | "opentelemetry" | "datadog" | "prometheus";
  /** The quietest event that is shown. Default `warn`. */
  readonly level?: "debug" | "info" | "warn" | "error";
  readonly otlpEndpoint?: string;
  /** Default `tool_arsenal`. */
  readonly serviceName?: string;
  /** Default false. */
  readonly exposePrometheus?: boolean;
  /** Default 9090. */
  readonly prometheusPort?: number;
}

export interface SecurityConfig {
  /** `strict` refuses what no rule allows; `standard` allows what no rule refuses. Default `standard`. */
  readonly policy?: "standard" | "strict";
  /** A document of rules, or Cedar policies (`.cedar`), that stands in for the lists below. None by default. */
  readonly policyFile?: string;
  /** Tool names, ids or patterns (`*`, `?`) whose calls a person must approve. Default `delete_*`, `payment_*`, `drop_*`, `refund_*`. */
  readonly requireConfirmation?: readonly string[];
  /** Further tool names, ids or patterns that a person must approve. */
  readonly humanInTheLoop?: readonly string[];
  /** Tool names, ids or patterns that may run in `strict`. */
  readonly allow?: readonly string[];
  /** Tool names, ids or patterns nobody may see or run. */
  readonly deny?: readonly string[];
  readonly allowedDomains?: readonly string[];
  /** Calls a minute, for each tool. Default 60. */
  readonly maxRequestsPerMinute?: number;
  /** Calls a minute in all, beside those for each tool. None by default. */
  readonly rates?: RateConfig;
  /** `changes` refuses a tool that changed until it is accepted; `all` hides every tool until it is. Default `all` in `strict`, else `changes`. */
  readonly pins?: "off" | "changes" | "all";
  readonly scan?: ScanConfig;
  /** Hosts by name, each with `sha256/` and the base64 hash of the public key its certificate must have. */
  readonly certificatePins?: Readonly<Record<string, string>>;
  /** Where each call that waits for a person is told, signed with `secret`. Nowhere by default. */
  readonly approvalWebhook?: { readonly url: string; readonly secret?: string };
  /** Seconds an unanswered or unused confirmation is kept. Default 600. */
  readonly confirmationTimeoutS?: number;
  /**
   * Whether the person at this machine may approve their own calls. Default `never` in the library. On the command line the default is `local`,
   * or `never` if callers must prove who they are.
   */
  readonly selfApproval?: "never" | "local";
}

/** Calls a minute. */
export interface RateConfig {
  readonly tenant?: number;
  readonly principal?: number;
  readonly toolset?: number;
}

/** How text is scanned that may hide something or instruct the model. */
export interface ScanConfig {
  /** In what sources say of their tools. Default `flag`. */
  readonly definitions?: "off" | "flag" | "neutralise" | "block";
  /** Default `off`. */
  readonly arguments?: "off" | "flag" | "block";
  /** Default `off`. */
  readonly results?: "off" | "flag" | "neutralise" | "wrap" | "block";
  /** `flag` also reports suspicious wording, found by a learned scorer. It never blocks. Default `off`. */
  readonly wording?: "off" | "flag";
  /** The least severity that is blocked. Default `high`. */
  readonly severity?: "low" | "medium" | "high" | "critical";
  /** What becomes of a text that could not be looked at. Default `deny` in `strict`, else `allow`. */
  readonly onFailure?: "allow" | "deny";
}

/** What outlives a call: pins, approvals and idempotency keys. */
export interface StateConfig {
  /**
   * A SQLite file it is kept in, which several processes may share. In memory by default: it then ends with the process. The command line
   * keeps approvals in the user's home folder by default, and in memory with `:memory:`.
   */
  readonly file?: string;
}

/** The record of every call. */
export interface AuditConfig {
  /** The file it is kept in. Nothing is recorded by default. */
  readonly file?: string;
  /** The Ed25519 key that signs it, made with the first use. The log's file with `.key` by default. */
  readonly keyFile?: string;
  /** Signs it in place of a key: at least 32 characters, best from the environment. */
  readonly secret?: string;
  /** Records from one signed checkpoint to the next. Default 1,000. */
  readonly checkpointEvery?: number;
  /** `batch`: a record that is kept survives a power failure. `close`: it survives the process. Default `batch`. */
  readonly fsync?: "batch" | "close";
  /** Bytes after which a new file is begun. Default 67,108,864. */
  readonly maxFileBytes?: number;
  /** Whether arguments are kept as a hash and their types, or as they are. Default `shape`. */
  readonly arguments?: "shape" | "full";
}

export interface McpConfig {
  readonly servers?: readonly McpServerConfig[];
  /** Default false. */
  readonly serveMcp?: boolean;
  /** Default `dynamic`. */
  readonly mcpMode?: "dynamic" | "static" | "hybrid";
  /** Tool ids or patterns that `hybrid` shows beside the two of `dynamic`; the most used ones where empty. */
  readonly commonTools?: readonly string[];
  /** How long a request waits for servers that are still connecting for the first time. Default 10,000. */
  readonly startupWaitMs?: number;
}

export interface McpServerConfig {
  readonly name: string;
  /** Taken from `command` or `url` where absent. */
  readonly type?: "stdio" | "http" | "streamable-http" | "sse" | "ws" | "websocket";
  /** The program, or the program and its arguments. */
  readonly command?: string | readonly string[];
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The folder the program runs in. */
  readonly cwd?: string;
  readonly url?: string;
  /** The same as `url`. */
  readonly endpoint?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** How to get a token where the server asks for one. */
  readonly oauth?: McpOAuthConfig;
  /** The server's name by default. */
  readonly namespace?: string;
  /** Time one call may take. Default 60,000. */
  readonly timeoutMs?: number;
  /** Time that connecting and listing may take, each. Default 30,000. */
  readonly connectTimeoutMs?: number;
  /** Calls at once, over all callers. Default `execution.maxConcurrentPerEnsemble`. */
  readonly maxConcurrent?: number;
  /** The longest message taken from the server, in bytes. Default 16,777,216. */
  readonly maxMessageBytes?: number;
  /** Tools taken from the server at most. Default 5,000. */
  readonly maxTools?: number;
  /** Whether what it says of its tools (that they only read, or may be repeated) is believed. Default false. */
  readonly trustAnnotations?: boolean;
  /** Left out where true. Default false. */
  readonly disabled?: boolean;
}

/** OAuth 2.1 for one server. Everything has a default: a public client, registered as the server allows. */
export interface McpOAuthConfig {
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** The authorization server that id and secret belong to; they are sent to no other. */
  readonly issuer?: string;
  /** Address of a document that describes this client. */
  readonly clientMetadataUrl?: string;
  readonly scope?: string;
  /** `authorization_code` asks a person once; `client_credentials` needs an id and a secret. */
  readonly grant?: "authorization_code" | "client_credentials";
  /** Port of the redirect address, where the client was registered with one. A free one by default. */
  readonly redirectPort?: number;
  /** Where tokens are kept. In the user's configuration folder by default. */
  readonly tokenFile?: string;
}

/** How `toolarsenal serve` listens. */
export interface ServerConfig {
  /** Default 127.0.0.1. Anything but loopback needs `tokens` or `auth`. */
  readonly host?: string;
  /** Default 8080; 0 takes a free one. */
  readonly port?: number;
  /** The address clients call it by, where that is another than the one listened on: `https://tools.example.com`. */
  readonly publicUrl?: string;
  /** Names, beside loopback's, the host's own and that of `publicUrl`, by which clients may call. */
  readonly allowedHosts?: readonly string[];
  /** Origins of web pages that may call, besides its own: `http://localhost:6274`. */
  readonly allowedOrigins?: readonly string[];
  /** Seconds that calls under way may take to end when serving ends; then they are cut off. Default 8. */
  readonly drainTimeoutS?: number;
  /** Callers by name, each with the bearer token it proves itself by. Without any, everybody who can connect is the local operator. */
  readonly tokens?: Readonly<Record<string, string>>;
  /** Further ways for callers to prove who they are. */
  readonly auth?: CallerAuthConfig;
}

/** Ways for callers to prove who they are; one suffices. */
export interface CallerAuthConfig {
  /** The file that `toolarsenal keys` writes. */
  readonly apiKeys?: { readonly file: string };
  readonly jwt?: CallerJwtConfig;
}

/** Access tokens of an OAuth 2 or OpenID Connect issuer. */
export interface CallerJwtConfig {
  /** As tokens have it in `iss`. */
  readonly issuer: string;
  /** What `aud` must hold, one of them. By default the address that was called, or one that it lies below. */
  readonly audience?: readonly string[];
  /** Found through the issuer's metadata by default. */
  readonly jwksUri?: string;
  /** Default RS256, PS256, ES256, EdDSA and Ed25519. */
  readonly algorithms?: readonly JwtAlgorithm[];
  /** Scopes that every token needs, all of them. */
  readonly scopes?: readonly string[];
  /** What every caller may touch, beside what its token claims. */
  readonly capabilities?: readonly Capability[];
  /** In which claims tokens say what of their caller. */
  readonly claims?: ClaimNames;
}

export interface A2aConfig {
  readonly agents?: readonly A2aAgentConfig[];
  /** Default false. */
  readonly serveA2a?: boolean;
  /** Default 8080. */
  readonly a2aPort?: number;
}

export interface A2aAgentConfig {
  readonly name: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly namespace?: string;
}

/** The tools that come with the package. */
export interface BuiltinsConfig {
  /** Which of them there are. None by default. */
  readonly tools?: readonly BuiltinTool[];
  readonly webSearch?: BuiltinSearchConfig;
  /** `roots` must be given for `file-read` and `file-write`. */
  readonly files?: FileSettings;
  readonly http?: HttpSettings;
  readonly code?: BuiltinCodeConfig;
}

export interface BuiltinSearchConfig {
  /** A reference to the key of the Tavily API, never the key itself. Default `env:TAVILY_API_KEY`. */
  readonly apiKey?: string;
  /** Where the API is, instead of api.tavily.com. */
  readonly url?: string;
}

export interface BuiltinCodeConfig {
  /** Where `code-execute` runs code. Default `isolate`. */
  readonly sandbox?: Exclude<SandboxName, "subprocess">;
}

/** The short form of the most used settings. It overrides the sections it abbreviates. */
export interface ShortFormConfig {
  /** The same as `execution.defaultTimeoutMs`, in seconds. */
  readonly defaultTimeoutSeconds?: number;
  /** The same as `execution.maxConcurrent`. */
  readonly maxConcurrentTools?: number;
  /** Added to `mcp.servers`. */
  readonly mcpServers?: readonly McpServerConfig[];
}
