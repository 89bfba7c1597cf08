// From manifest.ts, by `npm run derive`:
export { fileAudit, type FileAuditOptions } from "./file/file.ts";
export { memoryAudit, type MemoryAudit, type MemoryAuditOptions } from "./memory.ts";
export { postgresAudit, type PostgresAuditOptions } from "./postgres.ts";
// The rest of toolarsenal/audit:
export type { ApprovalRecord, AuditHead, AuditLog, AuditRecord, CallRecord } from "../../guard/audit.port.ts";
export { ed25519Key, hmacKey, type AuditKey } from "../../guard/audit/key.ts";
export { verify as verifyAudit, type FileVerification } from "../../guard/audit/verifier.ts";
export type { VerifyOptions } from "../../guard/audit/verifier.ts";
