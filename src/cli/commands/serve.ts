import { once } from "node:events";
import { flushCompileCache } from "node:module";
import { resolve as resolvePath } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { internalsOf } from "../../arsenal.ts";
import { count } from "../../errors/show-value.ts";
import { boot } from "../../config/start/boot.ts";
import type { SourceReport } from "../../config/start/start-configured.ts";
import { localOperator } from "../../guard/principal.ts";
import { fileTexts, watchConfig, watchFiles } from "../../system/watch-files.ts";
import type { TlsFiles } from "../../serve/http/listen-options.ts";
import type { ServedGateway } from "../../serve/serve-arsenal.ts";
import { present } from "../../base/present.ts";
import type { Command, Input, Terminal } from "../command.ts";
import {
  configFiles,
  type Configured,
  createConfiguredArsenal,
  loadConfigured,
  MCP_CONFIG,
} from "../arsenal/open-arsenal.ts";
import { forOperator, pruneApprovals } from "../arsenal/local-approvals.ts";
import { problemsOf, stopAtErrors } from "../checks/checks.ts";
import { planGateway } from "../checks/gateway.ts";
import { warnOfOwnFolders } from "../arsenal/own-folders.ts";
import { readChoice, readNumber, wrongInput } from "../input.ts";
import { createAnnouncer } from "../serve/announce.ts";
import { closeInTime } from "../serve/close-in-time.ts";
import { createFollower, watchPolicy } from "../serve/follow-config.ts";

const MODES = ["static", "dynamic", "hybrid", "code"] as const;

export const command: Command = {
  runsUntilInterrupted: true,
  options: {
    stdio: { description: "Serve the client that started this program, over standard input and output" },
    http: { description: "Serve clients over HTTP (the default)" },
    host: { value: "HOST", description: "Address to listen on", fallback: "127.0.0.1" },
    port: { value: "N", description: "Port to listen on; 0 picks a free one", fallback: "8080" },
    "tls-cert": { value: "FILE", description: "Serve over https with this certificate (PEM); needs --tls-key" },
    "tls-key": { value: "FILE", description: "The private key of the certificate (PEM)" },
    mode: {
      value: "MODE",
      description:
        "What clients see: static lists every tool, dynamic lists two tools that find and run the others, hybrid adds the most used tools, code runs programs that call tools",
      fallback: "dynamic",
    },
    toolset: { value: "NAME", description: "Serve the tools of this toolset and nothing else" },
    ...MCP_CONFIG,
  },
  examples: [
    "serve",
    "serve --stdio --config arsenal.yaml",
    "serve --toolset customer-acme",
    "serve --mcp-config ~/.cursor/mcp.json --port 0",
  ],
  async run(input, terminal) {
    const stdio = isStdio(input);
    const mode = readChoice(input, "mode", MODES);
    const tls = tlsFiles(input, terminal);
    const files = configFiles(input, terminal);
    const isDemo = files.paths.length === 0;
    const known = await fileTexts(files.paths);
    const configured = await loadConfigured(files, terminal);
    const knownNamed = await fileTexts(namedFiles(configured));
    const { config } = configured;
    const { server, mcp } = config;
    const port = readNumber(input, "port", { min: 0, max: 65_535, fallback: server.port });
    const { json, flags } = input;
    const { host = server.host, toolset } = input.options;
    const { environment } = terminal;
    const plan = planGateway(configured, terminal, { host, port, tls, listens: !stdio });
    const problems = await stopAtErrors(plan);
    const identity = await plan.identity();
    const { policyFile } = config.security;
    const knownPolicy = await fileTexts(policyFile === undefined ? [] : [policyFile]);
    if (!json) warnOfOwnFolders(config, terminal);
    const operated = forOperator(config, terminal, files.config);
    const arsenal = isDemo
      ? await (await import("../demo/create-demo-arsenal.ts")).createDemoArsenal({ environment }, { place: terminal })
      : createConfiguredArsenal(operated, { ...terminal, json, debugProtocol: flags.has("debug-protocol") });
    const approveCommand = operated.approvals?.command;
    const announcer = createAnnouncer({ arsenal, input, terminal, mode: mode ?? mcp.mcpMode, toolset, approveCommand });
    const stop = new AbortController();
    const shown = present({ mode, toolset, common: mcp.commonTools.length === 0 ? undefined : mcp.commonTools });

    let sources: Promise<readonly SourceReport[]> = Promise.resolve([]);
    async function start(): Promise<void> {
      if (!isDemo) ({ sources } = await boot(arsenal, configured));
    }

    async function overStdio(): Promise<ServedGateway> {
      // Answers first and connects afterwards, because a client waits for the handshake but not for servers.
      const { promise: starting, resolve: started } = Promise.withResolvers<void>();
      const served = await arsenal.serve({ transport: "stdio", ...shown, ...terminal.protocol, starting });
      // Requests that the client has already sent are answered before connecting uses the processor.
      for (let turn = 0; turn < 10; turn++) await nextTurn();
      await start();
      if (toolset !== undefined) arsenal.toolsets.get(toolset, localOperator());
      started();
      return served;
    }

    async function overHttp(): Promise<ServedGateway> {
      await start();
      return arsenal.serve({ transport: "http", ...shown, host, port, ...present({ tls, identity }) });
    }

    async function followFiles() {
      const { tell } = announcer;
      const follower = createFollower(configured, {
        arsenal,
        reports: sources,
        load: () => loadConfigured(files, terminal),
        tell,
        changed(next, reports) {
          announcer.tellConfigured(next, reports);
          named.follow(namedFiles(next));
        },
      });
      const onFailure = ({ message }: Error): void =>
        tell(`Cannot watch the configuration for changes (${message}). Send SIGHUP to reload it.`);
      const watched = await watchConfig(files.paths, { onChange: () => follower.follow(), onFailure, known });
      const named = watchFiles({ onChange: watched.reload, onFailure });
      named.follow(namedFiles(configured), knownNamed);
      const policy = await watchPolicy(config, arsenal, tell, knownPolicy);
      return {
        reload(): void {
          watched.reload();
          policy?.reload();
        },
        async close(): Promise<void> {
          follower.close();
          for (const watch of [named, watched, policy]) await watch?.close();
        },
      };
    }

    /** Reports the same problems as `doctor`, once every source was tried. */
    async function warnOfProblems(): Promise<void> {
      const [reports] = await Promise.all([sources, internalsOf(arsenal).upstreamsAttempted()]);
      await internalsOf(arsenal).workflows();
      announcer.tellFindings(await problemsOf({ arsenal, configured, terminal, reports }));
    }

    /** Waits for Ctrl-C, a closed terminal, or the client's disconnection. */
    async function untilStopped(): Promise<void> {
      // Clients may kill this program at any time, so the compile cache is written now.
      flushCompileCache();
      allocateCallsAsYoung();
      setImmediate(() => pruneApprovals(environment));
      const stopped = AbortSignal.any([terminal.signal, stop.signal]);
      if (stopped.aborted) return;
      const followed = isDemo ? undefined : await followFiles();
      // On a terminal, SIGHUP means that the terminal was closed. For a service, it requests a reload.
      const atTerminal = terminal.err.isTTY === true || terminal.out.isTTY === true;
      const onHangup = followed === undefined || atTerminal ? () => stop.abort() : followed.reload;
      const endHangup = terminal.onHangup?.(onHangup);
      if (!stopped.aborted) await once(stopped, "abort");
      endHangup?.();
      await followed?.close();
    }

    try {
      const served = await (stdio ? overStdio() : overHttp());
      served.closed.finally(() => stop.abort()).catch(() => {});
      const { url } = served;
      const needsToken = identity !== undefined;
      if (url !== undefined) announcer.tellEndpoint({ url, publicUrl: server.publicUrl, needsToken }, files);
      announcer.tellFindings(problems);
      announcer.tellConfigured(configured, sources);
      // If the arsenal is closed meanwhile, the wait fails.
      if (!isDemo) warnOfProblems().catch(() => {});
      await untilStopped();
      announcer.close();
      const { drainTimeoutS, shutdownDelayS } = server;
      const calls = count(served.pending, "call is", "calls are");
      const wait = `waiting up to ${drainTimeoutS} s. Press Ctrl-C again to exit now.`;
      if (served.pending > 0) terminal.err.write(`${calls} still running; ${wait}\n`);
      const drainMs = (drainTimeoutS + (stdio ? 0 : shutdownDelayS)) * 1000;
      return await closeInTime([() => served.close(), () => arsenal.close()], terminal, { drainMs });
    } catch (error) {
      await arsenal.close();
      throw error;
    } finally {
      announcer.close();
    }
  },
};

/** Returns the files named in a configuration that affect its meaning. */
function namedFiles({ sources, envFiles }: Configured): readonly string[] {
  const files = sources.flatMap(({ watched }) => (watched?.followed === false ? watched.files : []));
  return [...new Set([...files, ...envFiles])];
}

/**
 * With a small heap, running calls survive each collection, so V8 would soon allocate them in the old generation. There, each call keeps everything
 * that it references alive until the next full collection (docs/decisions/035). V8 ignores code that was cached with other flags, which includes
 * Node's own code, so the flag is set after the start. Deno and Bun do not accept flags here.
 */
function allocateCallsAsYoung(): void {
  if (process.versions["deno"] !== undefined || process.versions["bun"] !== undefined) return;
  setFlagsFromString("--no-allocation-site-pretenuring");
}

function tlsFiles({ options }: Input, { folder }: Terminal): TlsFiles | undefined {
  const { "tls-cert": cert, "tls-key": key } = options;
  if (cert === undefined && key === undefined) return undefined;
  if (cert !== undefined && key !== undefined)
    return { cert: resolvePath(folder, cert), key: resolvePath(folder, key) };
  const [given, missing] = cert === undefined ? ["--tls-key", "--tls-cert"] : ["--tls-cert", "--tls-key"];
  const fix = "Give both, or set server.tls in the configuration.";
  throw wrongInput(given, cert ?? key, `${given} needs ${missing}.`, fix);
}

function isStdio({ options, flags }: Input): boolean {
  const other = flags.has("http")
    ? "http"
    : ["host", "port", "tls-cert", "tls-key"].find((name) => options[name] !== undefined);
  if (!flags.has("stdio") || other === undefined) return flags.has("stdio");
  throw wrongInput("--stdio", `--${other}`, `--stdio cannot be combined with --${other}.`, "Use one of the two.");
}
