import { useEffect } from "preact/hooks";
import { caller, hasKey, identity, may, signOut } from "./gateway.ts";
import { SignIn } from "./pages/sign-in.tsx";
import { type PageEntry, PAGES } from "./pages/pages.ts";
import { place, to } from "./router.ts";
import { ThemeSwitch } from "./parts/theme.tsx";
import { waiting } from "./waiting.ts";

/** The frame of every page: the navigation and the page that the address names. */
export function App() {
  const { page } = place.value;
  const isKnown = caller.value !== "unknown";
  const usable = isKnown ? PAGES.filter(({ needs }) => may(needs)) : [];
  const named = PAGES.find(({ name }) => name === page);
  // An address without a page leads to the first page that the user may use.
  const shown = page === "" && isKnown && !usable.includes(named as PageEntry) ? usable[0] : named;
  useEffect(() => {
    document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
    document.title = `${shown?.title ?? "Not found"} · ToolArsenal`;
  }, [shown, isKnown]);
  if (caller.value === "signed-out") return <SignIn />;
  return (
    <>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <header class="bar">
        <a class="brand" href={to("")}>
          ToolArsenal
        </a>
        <nav aria-label="Pages">
          {usable.map((entry) => (
            <PageLink key={entry.name} entry={entry} isCurrent={entry === shown} />
          ))}
        </nav>
        {hasKey() && identity.value && (
          <span class="who">
            <span class="dim">{identity.value.id}</span>
            <button type="button" class="quiet" onClick={() => void signOut()}>
              Sign out
            </button>
          </span>
        )}
        <ThemeSwitch />
      </header>
      <main id="content" tabIndex={-1}>
        {isKnown && <Content page={page} shown={shown} isUsable={shown !== undefined && usable.includes(shown)} />}
      </main>
    </>
  );
}

/** A link to a page, with the number of items that need attention there. */
function PageLink({ entry: { name, title }, isCurrent }: { readonly entry: PageEntry; readonly isCurrent: boolean }) {
  const { count = 0, more = false } = waiting.value[name] ?? {};
  const number = `${count}${more ? "+" : ""}`;
  return (
    <a href={to(name)} aria-current={isCurrent ? "page" : undefined}>
      {title}
      {count > 0 && (
        <span class="count">
          {" "}
          {number}
          <span class="unseen"> waiting</span>
        </span>
      )}
    </a>
  );
}

function Content(props: { readonly page: string; readonly shown: PageEntry | undefined; readonly isUsable: boolean }) {
  const { page, shown, isUsable } = props;
  if (shown === undefined)
    return (
      <>
        <h1>Not found</h1>
        <p>
          The dashboard has no page "{page}". Go to the <a href={to("")}>start</a>.
        </p>
      </>
    );
  if (!isUsable)
    return (
      <>
        <h1>{shown.title}</h1>
        <p role="alert">
          You may not use this page. It needs the role {shown.role}: ask an administrator of the gateway for it.
        </p>
      </>
    );
  const { page: Page } = shown;
  return <Page />;
}
