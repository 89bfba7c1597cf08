import { covered, open, type Requirement } from "./requirement.ts";

/** Sections 9 to 15 of the main document: configuration, integrations, command line, tests, façade, threats. */
export const operations: readonly Requirement[] = [
  ...covered({
    "000-9.1-prometheus-port": "Serves metrics on the configured port.",
    "000-9.1-sandbox": "Runs tools in the configured sandbox.",
    "000-15.1-injection": "Finds hidden text and injections in definitions and results.",
    "000-15.1-sandbox": "Confines tools that run foreign code.",
    "000-15.1-secrets": "Keeps secrets out of definitions, logs, events, audit and errors.",
    "000-15.1-impersonation": "Verifies TLS, authenticates servers and blocks a definition that changed.",
    "000-15.2-implied-capabilities": "Gives a tool the network or file capability that its source implies.",
    "000-15.2-namespaces": "Lets a server register in its configured namespaces only.",
    "000-14-serve-mcp": "Serves MCP from the library.",
    "000-14-add-openapi": "Adds the operations of an OpenAPI document as tools.",
    "000-9.1-mcp-servers": "Connects the configured MCP servers.",
    "000-9.1-serve-mcp": "Serves MCP in the configured mode.",
    "000-11-serve": "Serves MCP from the shell on stdio or HTTP.",
    "000-14-add-mcp-server": "Adds an MCP server and says how many tools came.",
    "000-9.1-sections": "Reads every section of the configuration and keeps every documented default.",
    "000-9.1-yaml": "Reads the configuration from a YAML file.",
    "000-9.1-invalid": "Refuses a wrong value and names the key, the value and the fix.",
    "000-9.1-unknown-key": "Refuses an unknown key and names the nearest known one.",
    "000-9.1-not-built-in": "Refuses a backend that is not there and names what is.",
    "000-9.1-auto-sync": "Indexes what is pending before it retrieves or executes, unless told not to.",
    "000-9.1-sync-on-register": "Starts indexing at registration where the configuration wants it.",
    "000-9.1-editor-schema": "Ships a JSON Schema of the configuration file that is what the program checks.",
    "000-9.1-embedder-settings": "Applies model, api_key, api_base, batch_size and max_retries of the embedder.",
    "000-9.1-reranker-settings": "Applies type, model and top_k of a vendor's reranker.",
    "000-9.2-environment": "Replaces ${NAME} and ${NAME:-default} by environment variables.",
    "000-9.2-dev": "Loads the development example of a configuration.",
    "000-9.2-prod": "Loads the production example of a configuration.",
    "000-9.2-security": "Takes the policy mode and the human-in-the-loop list from the configuration.",
    "000-9.3-from-config": "Builds an arsenal from a configuration file and runs a tool registered on it.",
    "000-9.3-register": "Registers a function with tags and hands it to the model for a fitting request.",
    "000-9.3-modules": "Lets modules named in the configuration register their tools.",
  }),
  ...open("backends", {
    "000-9.1-store-settings": "Applies url, api_key, collection_name, dimension and options of the store.",
  }),

  ...open("telemetry", {
    "000-9.1-otlp": "Sends telemetry to otlp_endpoint under service_name.",
  }),

  ...covered({ "000-9.1-a2a-agents": "Uses the configured agents." }),
  ...open("A2A", {
    "000-9.1-serve-a2a": "Serves A2A on the configured port.",
  }),
  ...open("integrations", {
    "000-10.1-langchain": "Gives LangChain agents tools that are retrieved for the task and run by the arsenal.",
    "000-10.2-autogen": "Gives AutoGen its functions and runs them by the arsenal.",
    "000-10.2-llamaindex": "Gives LlamaIndex its tools and runs them by the arsenal.",
    "000-10.2-crewai": "Gives CrewAI its tools and runs them by the arsenal.",
  }),
  ...covered({
    "000-11-list": "Lists tools in the shell, by namespace and source.",
    "000-11-search": "Searches tools from the shell and explains the ranking.",
    "000-11-call": "Runs a tool from the shell under policy.",
    "000-11-benchmark": "Exits 1 from benchmark where the P95 of retrieval is 50 ms or more at 1,000 tools.",
    "000-11-eval": "Measures recall, NDCG and MRR on the user's own tools and queries.",
    "000-11-doctor": "Checks the configuration from the shell and says how to fix it.",
    "000-11-demo": "Shows the whole path in the shell with no configuration, and ends by itself.",
    "000-11-json": "Prints JSON on stdout where asked, and everything but data on stderr.",
    "000-11-exit-codes": "Exits 0 for success, 1 for a failure, 2 for wrong usage.",
    "000-11-help": "Helps with every command and suggests the nearest for a misspelt one.",
    "000-11-completion": "Completes commands and options in the shell.",
  }),

  ...covered({
    "000-12.1-samples": "Publishes the five sample tools for tests.",
    "000-12.2-top-1": "Finds the right tool first for common requests.",
    "000-12.2-compound": "Finds several tools for a request of several tasks.",
    "000-12.2-irrelevant": "Scores tools low for a request that none of them serves.",
    "000-12.2-failed": "Ranks a tool lower after it failed in the conversation.",
    "000-12.3-p95": "Retrieves among 1,000 tools with a P95 under 50 ms.",
    "000-12.3-registration": "Registers more than 100 tools a second.",
  }),
  ...covered({
    "000-13-swap": "Swaps every backend by configuration alone.",
  }),
  ...open("telemetry", {
    "000-13-trace": "Carries one trace over process boundaries.",
  }),
  ...open("MCP", {
    "000-13-claude-desktop": "Works in Claude Desktop as a dynamic router.",
  }),
  ...open("release", {
    "000-13-docs": "Documents every part, with examples that run and notebooks.",
    "000-13-published": "Is published as one package.",
  }),
  ...covered({
    "000-14-construct": "Is constructed without arguments, with a configuration, and with injected parts.",
    "000-14-options": "Takes name, namespace, capabilities, confirmation, tags and examples at registration.",
    "000-14-add-tool": "Adds a tool from its definition alone.",
    "000-14-batch": "Registers the good tools of a batch and reports the bad ones.",
    "000-14-sync": "Indexes pending registrations and says how many were new or changed.",
    "000-14-replace": "Replaces a tool registered again under the same id.",
    "000-14-retrieve": "Retrieves tools for a query with its context.",
    "000-14-retrieve-tools": "Retrieves tools for words in the OpenAI shape, or another dialect's.",
    "000-14-execute": "Executes a call under policy.",
    "000-14-execute-batch": "Executes a batch of calls.",
    "000-14-tool-count": "Counts registered tools, indexed or not.",
    "000-14-get-tool": "Gets one tool by name and namespace.",
    "000-14-list-tools": "Lists tools by namespace and source.",
    "000-14-delete-tool": "Deletes a tool, which is then neither found nor run.",
    "000-14-health-check": "Says which parts work.",
    "000-14-close": "Takes no more work once closed, and closes twice without harm.",
  }),

  ...covered({ "000-14-add-a2a-agent": "Adds an agent and says how many tools came." }),
  ...open("A2A", {
    "000-14-serve-a2a": "Serves A2A from the library.",
  }),

  ...covered({
    "000-15.2-explicit": "Uses no server or agent that nobody configured.",
    "000-15.1-denial": "Bounds what a tool can take by rate limit, circuit, deadline and permits.",
  }),
];
