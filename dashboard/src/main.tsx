import { render } from "preact";
import { App } from "./app.tsx";
import "./style.css";
import { showHiddenCharacters } from "./visible.ts";

showHiddenCharacters();

const root = document.querySelector("#app");
if (root !== null) render(<App />, root);
