import { renderMermaidSVG } from "beautiful-mermaid";

/**
 * Draws a Mermaid block while the site is built, so that a reader's browser needs no program for it. The colours are in style.css and
 * follow the theme. A comment in the first line of the block is the text for people who cannot see the picture.
 */
export function diagram(source: string): string {
  const [, title = "Diagram", drawn = source] = /^%%\s*(.+)\n([^]*)$/.exec(source) ?? [];
  const svg = renderMermaidSVG(drawn.trim(), { transparent: true, padding: 8, nodeSpacing: 16, layerSpacing: 28 })
    .replace(/<style>[^]*?<\/style>/, "")
    .replace(/^<svg ([^>]*?) style="[^"]*"/, `<svg $1 role="img" aria-label="${escaped(title)}"`);
  return `<figure class="diagram" tabindex="0" v-pre>${svg}</figure>\n`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}
