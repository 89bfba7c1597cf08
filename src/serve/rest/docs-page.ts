import { hash } from "node:crypto";
import { SHOWN_TEXT_SOURCE } from "../../errors/visible-text.ts";

const STYLE = `
:root { color-scheme: light dark; --text: #1d2129; --dim: #5a6270; --line: #d5d9e0; --page: #fff; --card: #f6f7f9; --link: #1a5fb4; --bad: #b42318; --good: #18794e; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e8ec; --dim: #a0a8b5; --line: #363c46; --page: #14171c; --card: #1c2027; --link: #7cb7ff; --bad: #ff9592; --good: #4cc38a; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 60rem; background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { margin: 0; font-size: 1.5rem; }
h2 { margin: 2.5rem 0 0.5rem; font-size: 1.2rem; }
h3 { margin: 1rem 0 0.25rem; font-size: 1rem; }
p { margin: 0.25rem 0 0.75rem; }
a { color: var(--link); }
a.skip { position: absolute; left: -100rem; }
a.skip:focus { position: static; }
nav a { display: inline-block; padding: 0.25rem 0.75rem 0.25rem 0; }
details { border: 1px solid var(--line); border-radius: 6px; margin: 0.5rem 0; background: var(--card); }
summary { padding: 0.6rem 0.75rem; cursor: pointer; }
summary:focus-visible, button:focus-visible, input:focus-visible, textarea:focus-visible, select:focus-visible, a:focus-visible { outline: 3px solid var(--link); outline-offset: 1px; }
details > div { padding: 0 0.75rem 0.75rem; }
code, pre, textarea { font: 0.85rem/1.45 ui-monospace, monospace; }
pre { overflow: auto; max-height: 28rem; margin: 0.5rem 0; padding: 0.6rem; border: 1px solid var(--line); border-radius: 4px; background: var(--page); white-space: pre-wrap; }
.method { font-weight: 700; margin-right: 0.5rem; }
.dim { color: var(--dim); }
.bad { color: var(--bad); }
.good { color: var(--good); }
dl { margin: 0; } dt { margin-top: 0.4rem; } dd { margin: 0 0 0 1rem; color: var(--dim); }
label { display: block; margin: 0.5rem 0 0.15rem; }
input, textarea, select { width: 100%; padding: 0.4rem; border: 1px solid var(--line); border-radius: 4px; background: var(--page); color: var(--text); font-size: 1rem; }
textarea { min-height: 9rem; }
button { margin: 0.75rem 0.5rem 0 0; padding: 0.5rem 1rem; border: 1px solid var(--link); border-radius: 4px; background: var(--link); color: var(--page); font-size: 1rem; cursor: pointer; }
`;

/** Runs in the browser. It writes only text and never markup, so that no content of the document or an answer can become part of the page. */
const SCRIPT = `
"use strict";
const $ = (id) => document.getElementById(id);
const visible = ${SHOWN_TEXT_SOURCE};
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined) continue;
    if (name === "onclick" || name === "onsubmit") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value);
  }
  for (const child of children.flat()) if (child !== undefined) element.append(typeof child === "string" ? visible(child) : child);
  return element;
}
const json = (value) => JSON.stringify(value, null, 2);
const authorization = () => ($("token").value === "" ? {} : { authorization: "Bearer " + $("token").value });
const refs = (value) => [...new Set([...JSON.stringify(value).matchAll(/#\\/components\\/schemas\\/(\\w+)/g)].map((found) => found[1]))];
function schemaOf(schema) {
  const named = refs(schema).map((name) => make("a", { href: "#schema-" + name }, name + " "));
  return [make("pre", { tabindex: "0" }, json(schema)), make("p", {}, named)];
}
function described(parts) {
  return make("dl", {}, parts.flatMap(([term, text]) => [make("dt", {}, make("code", {}, term)), make("dd", {}, text || "")]));
}
function section(id, method, path, operation) {
  const parameters = operation.parameters || [];
  const content = operation.requestBody && operation.requestBody.content["application/json"];
  const examples = (content && content.examples) || {};
  const example = Object.values(examples)[0];
  const streams = Object.values(operation.responses).some((each) => each.content && each.content["text/event-stream"]);
  const fields = new Map();
  const field = (name, label, element) => (fields.set(name, element), [make("label", { for: element.id }, label), element]);
  const output = make("div", { "aria-live": "polite" });
  let stop;
  const form = make("form", {
      onsubmit: (event) => {
        event.preventDefault();
        if (stop) stop.abort();
        stop = new AbortController();
        send(stop.signal).catch((error) => output.append(make("p", { class: "bad" }, String(error))));
      },
    },
    parameters.map((each) => field(each.in + " " + each.name, each.name + (each.required ? " (required)" : ""), make("input", {
      id: id + "-" + each.name, autocomplete: "off", value: each.in === "path" ? (each.schema.examples || [])[0] : undefined,
    }))),
    content ? field("body", "Body", make("textarea", { id: id + "-body", spellcheck: "false" }, example ? json(example.value) : "{}")) : [],
    streams ? field("accept", "Answer", make("select", { id: id + "-accept" },
      make("option", { value: "application/json" }, "JSON"), make("option", { value: "text/event-stream" }, "Event stream"))) : [],
    make("button", { type: "submit" }, "Send"),
    streams ? make("button", { type: "button", onclick: () => stop && stop.abort() }, "Stop") : undefined,
  );
  async function send(signal) {
    let target = path;
    const query = new URLSearchParams();
    const headers = { ...authorization(), accept: streams ? fields.get("accept").value : "application/json" };
    for (const { name, in: place } of parameters) {
      const { value } = fields.get(place + " " + name);
      if (place === "path") target = target.replace("{" + name + "}", encodeURIComponent(value));
      else if (value !== "" && place === "query") query.set(name, value);
      else if (value !== "") headers[name] = value;
    }
    if (content) headers["content-type"] = "application/json";
    headers["x-page-token"] = document.querySelector("meta[name=page-token]").content;
    const body = content ? fields.get("body").value : undefined;
    // Relative to this page, which may be below a path of the host.
    const response = await fetch("." + target + (query.size ? "?" + query : ""), { method: method.toUpperCase(), headers, body, signal });
    const shown = make("pre", { tabindex: "0" });
    output.replaceChildren(make("p", { class: response.ok ? "good" : "bad" }, response.status + " " + (response.headers.get("content-type") || "")), shown);
    const reader = response.body && response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ""; reader; ) {
      const { done, value } = await reader.read();
      if (done) { try { shown.textContent = visible(json(JSON.parse(text))); } catch {} return; }
      shown.textContent = visible(text += value);
    }
  }
  return make("details", { id },
    make("summary", {}, make("span", { class: "method" }, method.toUpperCase()), make("code", {}, path), " ", make("span", { class: "dim" }, operation.summary)),
    make("div", {},
      make("p", {}, operation.description),
      parameters.length ? [make("h3", {}, "Parameters"), described(parameters.map((each) => [each.name, each.in + (each.required ? ", required. " : ". ") + (each.description || "")]))] : [],
      content ? [make("h3", {}, "Body"), schemaOf(content.schema)] : [],
      make("h3", {}, "Answers"),
      described(Object.entries(operation.responses).map(([status, each]) => [status, each.description])),
      make("h3", {}, "Try it"), form, output),
  );
}
async function load() {
  const main = $("operations");
  const response = await fetch("openapi.json", { headers: authorization() });
  if (!response.ok) {
    $("state").textContent = response.status === 401 ? "Enter an API key or a token to see the operations." : "The document could not be read: " + response.status;
    $("access").hidden = false;
    return;
  }
  const api = await response.json();
  $("state").textContent = api.info.title + " " + api.info.version;
  $("access").hidden = !api.security;
  const operations = Object.entries(api.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })));
  const id = (name) => "tag-" + name.toLowerCase();
  $("tags").replaceChildren(...api.tags.map(({ name }) => make("a", { href: "#" + id(name) }, name)), make("a", { href: "#schemas" }, "Schemas"));
  main.replaceChildren(
    ...api.tags.map(({ name, description }) => make("section", { "aria-labelledby": id(name) },
      make("h2", { id: id(name) }, name), make("p", { class: "dim" }, description),
      operations.filter(({ operation }) => operation.tags.includes(name)).map(({ path, method, operation }) => section(operation.operationId, method, path, operation)))),
    make("section", { "aria-labelledby": "schemas" }, make("h2", { id: "schemas" }, "Schemas"),
      Object.entries(api.components.schemas).map(([name, schema]) => make("details", { id: "schema-" + name }, make("summary", {}, name), make("div", {}, schemaOf(schema))))),
  );
  open();
}
function open() {
  const target = location.hash.length > 1 && $(location.hash.slice(1));
  if (target && "open" in target) { target.open = true; target.scrollIntoView(); }
}
addEventListener("hashchange", open);
$("access").addEventListener("submit", (event) => { event.preventDefault(); load(); });
load().catch((error) => { $("state").textContent = String(error); });
`;

const sha256 = (text: string): string => `'sha256-${hash("sha256", text, "base64")}'`;

/** Lets the page only run its own script, show its own style, and call this server. */
const POLICY = `default-src 'none'; script-src ${sha256(SCRIPT)}; style-src ${sha256(STYLE)}; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export const DOCS_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
} as const;

/** Returns the page at `/docs`. It reads `/openapi.json` in the browser and contains no names, so it is public. `head` contains its page token. */
export const docsPage = (head: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>ToolArsenal REST API</title>
<link rel="icon" href="data:,">
${head}
<style>${STYLE}</style>
</head>
<body>
<a class="skip" href="#operations">Skip to the operations</a>
<header>
<h1>REST API</h1>
<p id="state" class="dim" role="status">Loading…</p>
<p><a href="openapi.json">openapi.json</a></p>
<form id="access" hidden>
<label for="token">API key or token</label>
<input id="token" type="password" autocomplete="off">
<button type="submit">Use it</button>
</form>
</header>
<nav id="tags" aria-label="Sections"></nav>
<main id="operations" tabindex="-1"></main>
<script>${SCRIPT}</script>
</body>
</html>
`;
