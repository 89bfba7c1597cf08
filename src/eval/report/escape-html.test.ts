import { expect, it } from "vitest";
import { html } from "./escape-html.ts";

it("html escapes what is no markup, in elements and in attributes", () => {
  const hostile = `"><script>alert('1')</script>&`;
  expect(html`<a title="${hostile}">${hostile}</a>`.markup).toBe(
    `<a title="&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;">&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;</a>`,
  );
});

it("html keeps markup, joins lists, leaves out what is not there and drops control characters", () => {
  const items = ["a", "<b>"].map((item) => html`<i>${item}</i>`);
  expect(html`${items}${undefined}${3}${"x\u001B[2J\u0000y"}`.markup).toBe("<i>a</i><i>&lt;b&gt;</i>3xy");
});
