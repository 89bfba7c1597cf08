import { signal } from "@preact/signals";

const KEY = "toolarsenal.theme";
type Theme = "auto" | "light" | "dark";
const NEXT: Readonly<Record<Theme, Theme>> = { auto: "light", light: "dark", dark: "auto" };
const SHOWN: Readonly<Record<Theme, string>> = { auto: "◐ Auto", light: "☀ Light", dark: "☾ Dark" };

const theme = signal<Theme>((localStorage.getItem(KEY) as Theme | null) ?? "auto");
theme.subscribe((chosen) => {
  localStorage.setItem(KEY, chosen);
  if (chosen === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = chosen;
});

export function ThemeSwitch() {
  const chosen = theme.value;
  return (
    <button class="quiet" type="button" onClick={() => (theme.value = NEXT[chosen])} aria-label={`Theme: ${chosen}`}>
      {SHOWN[chosen]}
    </button>
  );
}
