import { showComparison } from "./compare";
import { readReport } from "./data";
import { el } from "./dom";
import { showRun } from "./run";
import "./style.css";
import { initTheme } from "./theme";

initTheme();
try {
  const report = readReport();
  if (report.kind === "comparison") showComparison(report);
  else showRun(report);
} catch (trouble) {
  const page = document.getElementById("page")!;
  page.textContent = "";
  page.appendChild(el("p", { class: "waiting", role: "alert" }, `This report cannot be shown: ${(trouble as Error).message}`));
  throw trouble;
}
