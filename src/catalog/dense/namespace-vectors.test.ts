import { describe, expect, it } from "vitest";
import { createNamespaceVectors, type NamespaceVectors } from "./namespace-vectors.ts";

/** A vector of unit length in the direction of one axis, tilted by another. */
function vector(axis: number, tilt = 0): Float32Array {
  const values = new Float32Array(16);
  values[axis] = Math.cos(tilt);
  values[15] = Math.sin(tilt);
  return values;
}

/** Twelve namespaces of two tools each, `n0` along axis 0 and so on. */
function many(): NamespaceVectors {
  const namespaces = createNamespaceVectors();
  for (let index = 0; index < 12; index++) {
    namespaces.add(`n${index}`, vector(index, 0.2));
    namespaces.add(`n${index}`, vector(index, -0.2));
  }
  return namespaces;
}

describe("createNamespaceVectors", () => {
  it("says how near each namespace is to a request", () => {
    const fits = many().fit(vector(3));
    expect(fits.size).toBe(12);
    expect(fits.get("n3")?.cosine).toBeCloseTo(1, 5);
    expect(fits.get("n4")?.cosine).toBeCloseTo(0, 5);
  });

  it("says nothing where there are fewer than ten", () => {
    const few = createNamespaceVectors();
    for (let index = 0; index < 9; index++) few.add(`n${index}`, vector(index));
    expect(few.fit(vector(3)).size).toBe(0);
  });

  it("trusts tools that belong together, and neither a lone tool nor a mixed lot", () => {
    const namespaces = many();
    namespaces.add("lone", vector(3));
    for (let axis = 0; axis < 8; axis++) namespaces.add("mixed", vector(axis));
    const fits = namespaces.fit(vector(3));
    expect(fits.get("n3")?.trust).toBe(1);
    expect(fits.get("lone")?.trust).toBe(0);
    expect(fits.get("mixed")?.trust).toBe(0);
  });

  it("trusts halfway what half belongs together", () => {
    const namespaces = many();
    const angle = Math.acos(0.6);
    namespaces.add("half", vector(3, angle));
    namespaces.add("half", vector(3, -angle));
    expect(namespaces.fit(vector(3)).get("half")?.trust).toBeCloseTo(0.5, 5);
  });

  it("makes nothing of the default namespace", () => {
    const namespaces = many();
    namespaces.add("default", vector(3));
    namespaces.add("default", vector(3));
    expect(namespaces.fit(vector(3)).get("default")?.trust).toBe(0);
  });

  it("forgets what is removed, and a namespace with its last tool", () => {
    const namespaces = many();
    namespaces.add("n3", vector(5));
    namespaces.remove("n3", vector(5));
    expect(namespaces.fit(vector(3)).get("n3")?.cosine).toBeCloseTo(1, 5);
    namespaces.remove("n11", vector(11, 0.2));
    namespaces.remove("n11", vector(11, -0.2));
    namespaces.remove("unknown", vector(1));
    expect(namespaces.size).toBe(11);
  });
});
