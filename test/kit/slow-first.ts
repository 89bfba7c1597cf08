import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Starts the files that take longest first, so that no core waits for the last one. In a fresh clone, those are the ones that start gateways. */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isSlow = ({ moduleId }: TestSpecification): boolean => moduleId.includes("/test/");
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}
