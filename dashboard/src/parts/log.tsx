import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { isArsenalError, type LogLine } from "../../../src/client/index.ts";
import { gateway } from "../gateway.ts";
import { Failure } from "./failure.tsx";

const EVERY_MS = 1000;
const KEPT = 500;

/** Follows the log of a server, and stays at the newest line unless the user scrolls up. */
export function Log({ name }: { readonly name: string }) {
  const { lines, error } = useLog(name);
  const [copied, setCopied] = useState("");
  const box = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  useLayoutEffect(() => {
    if (follows.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [lines]);
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(lines.map(toText).join("\n"));
      setCopied("Copied.");
    } catch {
      // Browsers do not allow clipboard access without HTTPS.
      if (box.current !== null) getSelection()?.selectAllChildren(box.current);
      setCopied("Press Ctrl+C to copy.");
    }
  }
  return (
    <div class="log">
      <div
        class="lines"
        role="log"
        aria-label={`Log of ${name}`}
        tabIndex={0}
        ref={box}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) =>
          (follows.current = scrollTop + clientHeight >= scrollHeight - 8)
        }
      >
        {lines.length === 0 && <p class="dim">It wrote nothing yet.</p>}
        {lines.map(({ id, at, from, level, text }) => (
          <div key={id} class={`line ${toneOf(from, level)}`}>
            <time dateTime={new Date(at).toISOString()}>{new Date(at).toLocaleTimeString()}</time>{" "}
            <span class="from">{level ?? from}</span> <span>{text}</span>
          </div>
        ))}
      </div>
      {error !== undefined && <Failure error={error} />}
      <div class="actions">
        <button type="button" class="quiet" disabled={lines.length === 0} onClick={() => void copy()}>
          Copy
        </button>
        <span class="dim" aria-live="polite">
          {copied}
        </span>
      </div>
    </div>
  );
}

/** Polls for new lines every second. A server that is being added may not be known yet. */
function useLog(name: string): { readonly lines: readonly LogLine[]; readonly error?: unknown } {
  const [state, setState] = useState<{ readonly lines: readonly LogLine[]; readonly error?: unknown }>({ lines: [] });
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    let timer: ReturnType<typeof setTimeout>;
    let lines: readonly LogLine[] = [];
    async function read(): Promise<void> {
      try {
        const more = await gateway().ensembles.log(name, { after: lines.at(-1)?.id ?? 0, signal });
        if (more.length > 0) lines = [...lines, ...more].slice(-KEPT);
        if (!signal.aborted) setState((old) => (more.length === 0 && old.error === undefined ? old : { lines }));
      } catch (error) {
        const isUnknown = isArsenalError(error) && error.code === "ENSEMBLE_NOT_FOUND";
        if (!signal.aborted && !isUnknown) setState({ lines, error });
        if (isArsenalError(error) && error.code === "PERMISSION_DENIED") return;
      }
      if (!signal.aborted) timer = setTimeout(() => void read(), EVERY_MS);
    }
    void read();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [name]);
  return state;
}

const SEVERE = new Set(["error", "critical", "alert", "emergency"]);

function toneOf(from: LogLine["from"], level: string | undefined): string {
  if (level !== undefined && SEVERE.has(level)) return "bad";
  return level === "warning" ? "warn" : from === "gateway" ? "dim" : "";
}

function toText({ at, from, level, text }: LogLine): string {
  return [new Date(at).toISOString(), from, ...(level === undefined ? [] : [level]), text].join(" ");
}
