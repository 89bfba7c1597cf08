/** The style sheet of the report. Light or dark as the reader prefers, and one column on a phone. */
export const STYLE = `
:root { color-scheme: light dark; --ground: #fbfbfa; --card: #fff; --ink: #1d2126; --soft: #5a636e; --rule: #dfe3e8; --a: #1f5fd0; --b: #b4500c; --good: #11713b; --bad: #b3261e; --chip: #eef1f5; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171b; --card: #1c2026; --ink: #e7eaee; --soft: #a3adb9; --rule: #343b44; --a: #82aeff; --b: #ffab66; --good: #6fd39a; --bad: #ff8f85; --chip: #2a3038; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 76rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.1rem; margin: 2.25rem 0 .75rem; }
p { margin: .25rem 0 .75rem; }
.soft, .note { color: var(--soft); }
.note { font-size: .875rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(8.5rem, 1fr)); gap: .75rem; margin: 1.25rem 0 0; padding: 0; }
.figures div { background: var(--card); border: 1px solid var(--rule); border-radius: .5rem; padding: .6rem .8rem; }
.figures dt { color: var(--soft); font-size: .8125rem; }
.figures dd { margin: 0; font-size: 1.35rem; font-weight: 600; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); gap: 1rem; }
figure { margin: 0; background: var(--card); border: 1px solid var(--rule); border-radius: .5rem; padding: .75rem; }
figcaption { font-weight: 600; font-size: .9375rem; display: flex; flex-wrap: wrap; gap: .25rem .75rem; justify-content: space-between; }
.legend { font-weight: 400; color: var(--soft); display: flex; gap: .75rem; }
.key::before { content: ""; display: inline-block; width: .7em; height: .7em; border-radius: 2px; margin-right: .35em; }
.key.a::before { background: var(--a); } .key.b::before { background: var(--b); }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--soft); font-size: 10.5px; font-variant-numeric: tabular-nums; }
svg .grid { stroke: var(--rule); stroke-width: 1; }
svg .line { fill: none; stroke-width: 2; }
svg .a { fill: var(--a); } svg .b { fill: var(--b); }
svg .line.a { stroke: var(--a); fill: none; } svg .line.b { stroke: var(--b); stroke-dasharray: 5 3; fill: none; }
.interval { width: 8.75rem; min-width: 6rem; }
.interval .zero { stroke: var(--soft); stroke-dasharray: 2 2; }
.interval .span { stroke: var(--soft); stroke-width: 2.5; stroke-linecap: round; } .interval circle { fill: var(--soft); }
.interval.sure .span { stroke: var(--a); } .interval.sure circle { fill: var(--a); }
.scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--rule); border-radius: .5rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem; border-bottom: 1px solid var(--rule); }
tbody tr:last-child > * { border-bottom: 0; }
thead th { color: var(--soft); font-weight: 600; font-size: .8125rem; white-space: nowrap; }
td.number, th.number { text-align: right; white-space: nowrap; }
th.text { min-width: 6rem; }
.text { overflow-wrap: anywhere; unicode-bidi: isolate; }
.better { color: var(--good); } .worse { color: var(--bad); }
.chip { display: inline-block; background: var(--chip); border-radius: 1rem; padding: 0 .55em; font-size: .8125rem; margin-right: .25rem; overflow-wrap: anywhere; }
.misses td { width: 25%; } .misses ol, .misses ul { margin: 0; padding-left: 1.3rem; } .misses ul { list-style: none; padding-left: 0; }
.misses .hit { color: var(--good); font-weight: 600; }
.filter { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: 0 0 .75rem; }
.filter[hidden] { display: none; }
.filter input, .filter select { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--soft); border-radius: .4rem; padding: .35rem .6rem; }
.filter input { flex: 1 1 14rem; max-width: 28rem; min-width: 0; }
.suggestions { padding-left: 0; list-style: none; margin: 0; display: grid; gap: .5rem; }
.suggestions li { background: var(--card); border: 1px solid var(--rule); border-radius: .5rem; padding: .6rem .8rem; }
pre { background: var(--card); border: 1px solid var(--rule); border-radius: .5rem; padding: .75rem; overflow-x: auto; font-size: .8125rem; }
:focus-visible { outline: 2px solid var(--a); outline-offset: 2px; }
@media (max-width: 44rem) {
  main { padding: 1rem .75rem 3rem; }
  .figures { grid-template-columns: repeat(2, 1fr); gap: .5rem; }
  .stacked thead { display: none; }
  .stacked, .stacked tbody, .stacked tr, .stacked td { display: block; width: auto; }
  .stacked tr { border-bottom: 1px solid var(--rule); padding: .5rem 0; } .stacked tr[hidden] { display: none; }
  .stacked tbody tr:last-child { border-bottom: 0; }
  .stacked td { border: 0; padding: .25rem .75rem; }
  .stacked td::before { content: attr(data-label); display: block; color: var(--soft); font-size: .75rem; }
}
@media print { .filter { display: none; } .scroll, figure { break-inside: avoid; } }
`;

/** Filters the misses by text and by kind. Without scripts, every miss is visible. */
export const SCRIPT = `
const filter = document.querySelector(".filter");
if (filter) {
  const [text, kind] = filter.querySelectorAll("input, select");
  const rows = [...document.querySelectorAll(".misses tbody tr")].map((row) => [row, row.textContent.toLowerCase()]);
  const apply = () => {
    const wanted = text.value.trim().toLowerCase();
    let shown = 0;
    for (const [row, content] of rows) {
      row.hidden = !content.includes(wanted) || (kind.value !== "" && row.dataset.kind !== kind.value);
      if (!row.hidden) shown++;
    }
    filter.querySelector("output").value = shown + " of " + rows.length;
  };
  text.addEventListener("input", apply);
  kind.addEventListener("input", apply);
  filter.hidden = false;
  apply();
}
`;
