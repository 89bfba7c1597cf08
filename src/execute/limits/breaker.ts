import type { Clock } from "../../observe/clock.ts";
import type { Emit } from "../../observe/events.ts";
import type { HealthBook } from "../../observe/health.ts";

/** Leaves a tool alone that keeps failing: closed, open for a cool-down, then half-open for one probe. */
export interface Breakers {
  /** Why a call could not go through now, or undefined where it could. Takes nothing. */
  refusal(toolId: string): Refusal | undefined;
  /** Lets a call through, as the probe where the circuit is half-open. Every pass must be settled. */
  acquire(toolId: string): Pass | Refusal;
  /** Says how the call went. `neutral` is neither success nor failure, and frees the probe for the next caller. */
  settle(pass: Pass, outcome: "success" | "failure" | "neutral"): void;
  /** Forgets a tool, for one that is deleted or replaced. */
  forget(toolId: string): void;
}

/** Leave to call a tool once. */
export interface Pass {
  readonly allowed: true;
  readonly toolId: string;
  readonly probe: boolean;
  /** When it was given, in changes of state: what a call reports about an earlier state of the circuit is not counted. */
  readonly era: number;
}

/** The circuit is open. */
export interface Refusal {
  readonly allowed: false;
  /** Until the cool-down ends; absent where a probe is under way. */
  readonly retryAfterMs?: number;
}

interface Circuit {
  failures: number;
  /** When it opened; undefined while closed. */
  openedAt: number | undefined;
  probing: boolean;
  changedInEra: number;
}

/** Creates the breakers of all tools. A tool that does not fail takes no memory. */
export function createBreakers(parts: {
  readonly threshold: number;
  readonly coolDownMs: number;
  readonly clock: Clock;
  readonly emit: Emit;
  readonly health: HealthBook;
}): Breakers {
  const { threshold, coolDownMs, clock, emit, health } = parts;
  const circuits = new Map<string, Circuit>();
  let era = 0;

  function open(toolId: string, circuit: Circuit): void {
    circuit.openedAt = clock.now();
    circuit.changedInEra = ++era;
    health.setCircuit(toolId, true);
    emit("circuit-opened", { toolId, consecutiveFailures: circuit.failures, retryAfterMs: coolDownMs });
  }

  function close(toolId: string, circuit: Circuit): void {
    circuit.openedAt = undefined;
    circuit.failures = 0;
    circuit.changedInEra = ++era;
    health.setCircuit(toolId, false);
    emit("circuit-closed", { toolId });
  }

  function refusalOf(circuit: Circuit | undefined): Refusal | undefined {
    if (circuit?.openedAt === undefined) return undefined;
    const retryAfterMs = circuit.openedAt + coolDownMs - clock.now();
    if (retryAfterMs > 0) return { allowed: false, retryAfterMs: Math.ceil(retryAfterMs) };
    return circuit.probing ? { allowed: false } : undefined;
  }

  function settleProbe(pass: Pass, circuit: Circuit, outcome: "success" | "failure" | "neutral"): void {
    circuit.probing = false;
    if (outcome === "success") close(pass.toolId, circuit);
    if (outcome === "failure") {
      circuit.failures++;
      open(pass.toolId, circuit);
    }
  }

  return {
    refusal: (toolId) => refusalOf(circuits.get(toolId)),
    acquire(toolId) {
      const circuit = circuits.get(toolId);
      const refusal = refusalOf(circuit);
      if (refusal !== undefined) return refusal;
      const probe = circuit?.openedAt !== undefined;
      if (circuit !== undefined && probe) {
        circuit.probing = true;
        emit("circuit-probed", { toolId });
      }
      return { allowed: true, toolId, probe, era };
    },
    settle(pass, outcome) {
      const circuit = circuits.get(pass.toolId);
      if (circuit !== undefined && pass.era < circuit.changedInEra) return;
      if (pass.probe) {
        if (circuit?.probing) settleProbe(pass, circuit, outcome);
      } else if (outcome === "success") {
        if (circuit !== undefined) circuit.failures = 0;
      } else if (outcome === "failure") {
        const failing = circuit ?? { failures: 0, openedAt: undefined, probing: false, changedInEra: 0 };
        failing.failures++;
        circuits.set(pass.toolId, failing);
        if (failing.failures >= threshold) open(pass.toolId, failing);
      }
    },
    forget(toolId) {
      const circuit = circuits.get(toolId);
      if (circuit === undefined) return;
      circuits.delete(toolId);
      if (circuit.openedAt !== undefined) health.setCircuit(toolId, false);
    },
  };
}
