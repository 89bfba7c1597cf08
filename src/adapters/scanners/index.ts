// From manifest.ts, by `npm run derive`:
export { wordingScanner } from "./wording/wording.ts";
// The rest of toolarsenal/scanners:
export type { PlacedFinding, ScannerRule, TextScanner } from "../../guard/scanner.port.ts";
export {
  createScanner,
  type ScanMode,
  type Scanner,
  type ScannerOptions,
  type ScanReport,
} from "../../guard/scan/scanner.ts";
export { wrapUntrusted } from "../../guard/scan/wrap-untrusted.ts";
