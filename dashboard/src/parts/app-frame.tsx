import { useEffect, useRef, useState } from "preact/hooks";
import { type App, type AppAddress, createBridge, readApp, type ShownCall } from "./app.ts";
import { useAsk } from "./ask.ts";
import { Shown } from "./shown.tsx";

/** Shows a server's user interface for the result of a call, with the name of the server. */
export function AppOfCall({ address, call }: { readonly address: AppAddress; readonly call: ShownCall }) {
  const { uri, server } = address;
  const asked = useAsk((signal) => readApp(address, signal), [uri, server]);
  return (
    <section class="app" aria-label={`App of ${server}`}>
      <p>
        <b>App of {server}.</b>{" "}
        <span class="dim">
          The server {server} serves what follows, as <code>{uri}</code>. It cannot read this page.
        </span>
      </p>
      <Shown asked={asked}>{(app) => <Frame app={app} server={server} call={call} />}</Shown>
    </section>
  );
}

const [LOWEST, HIGHEST] = [80, 800];

function Frame({ app, server, call }: { readonly app: App; readonly server: string; readonly call: ShownCall }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState(240);
  useEffect(() => {
    const answer = createBridge({
      app,
      call,
      // The frame's origin is opaque, so `*` is the only possible target. The page's policy prevents the frame from navigating to another site.
      send: (message) => frame.current?.contentWindow?.postMessage(message, "*"),
      resize: (wanted) => setHeight(Math.min(Math.max(Math.ceil(wanted), LOWEST), HIGHEST)),
    });
    const heard = ({ source, data }: MessageEvent): void => {
      if (source !== null && source === frame.current?.contentWindow) answer(data);
    };
    addEventListener("message", heard);
    // The frame announces itself only once, so it is loaded after the listener is added.
    if (frame.current) frame.current.src = app.frame;
    return () => removeEventListener("message", heard);
  }, [app, call]);
  return (
    <iframe
      ref={frame}
      title={`App of ${server}`}
      sandbox="allow-scripts"
      referrerpolicy="no-referrer"
      height={height}
    />
  );
}
