import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { caller, hasKey, identity, signOut } from "./gateway.ts";
import { SignIn } from "./pages/sign-in.tsx";
import { PAGES } from "./pages/pages.ts";
import { place, to } from "./router.ts";
import { ThemeSwitch } from "./parts/theme.tsx";

/** The frame of every page: navigation, and the page that the address names. */
export function App() {
  const { page } = place.value;
  const shown = PAGES.find(({ name }) => name === page);
  useEffect(() => {
    document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
    document.title = `${shown?.title ?? "Not found"} · ToolArsenal`;
  }, [shown]);
  if (caller.value === "signed-out") return <SignIn />;
  const Page: ComponentType | undefined = shown?.page;
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
          {PAGES.map(({ name, title }) => (
            <a key={name} href={to(name)} aria-current={name === shown?.name ? "page" : undefined}>
              {title}
            </a>
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
        {Page ? (
          <Page />
        ) : (
          <>
            <h1>Not found</h1>
            <p>
              The dashboard has no page "{page}". Go to the <a href={to("")}>overview</a>.
            </p>
          </>
        )}
      </main>
    </>
  );
}
