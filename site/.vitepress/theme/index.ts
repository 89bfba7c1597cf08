import DefaultTheme from "vitepress/theme-without-fonts";
import { onMounted } from "vue";
import { correctSearchBox } from "./search-box.ts";
import "./style.css";

export default {
  extends: DefaultTheme,
  setup: () => onMounted(correctSearchBox),
};
