/**
 * Attributes of the theme's search box that mislead screen readers. The box is called a button and its results options: both would be read as one
 * name, without the links in them. Undefined removes an attribute.
 */
const CORRECTIONS: readonly (readonly [selector: string, attributes: Readonly<Record<string, string | undefined>>])[] =
  [
    [
      ".VPLocalSearchBox[role=button]",
      { role: "dialog", "aria-expanded": undefined, "aria-haspopup": undefined, "aria-owns": undefined },
    ],
    [".VPLocalSearchBox kbd[aria-label]:not([role])", { role: "img" }],
    ["#localsearch-list[role]", { role: undefined }],
    [
      "#localsearch-list [role=option], #localsearch-list [aria-selected]",
      { role: undefined, "aria-selected": undefined },
    ],
    ["#localsearch-list a[aria-label]", { "aria-label": undefined }],
  ];

/** Corrects the search box whenever it is drawn. */
export function correctSearchBox(): void {
  const correct = (): void => {
    for (const [selector, attributes] of CORRECTIONS)
      for (const element of document.querySelectorAll(selector))
        for (const [name, value] of Object.entries(attributes))
          if (value === undefined) element.removeAttribute(name);
          else element.setAttribute(name, value);
  };
  const watched = { childList: true, subtree: true, attributeFilter: ["role", "aria-selected", "aria-label"] };
  new MutationObserver(correct).observe(document.body, watched);
}
