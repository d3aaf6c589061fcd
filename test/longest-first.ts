import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The test files that take about ten seconds or more on two idle cores, the longest first. Two of them that begin at the end leave a
 * core idle, and vitest itself goes by the size of a file where it has not run it before: there these would be the last.
 */
export const LONGEST = [
  'contract/sqlite-file',
  'contract/mongo',
  'contract/mongo-only',
  'service/shutdown',
  'contract/sqlite-memory',
  'http/large-bodies',
  'contract/mongo-open',
  'long/search-links',
  'long/search-random',
  'long/leaks',
  'long/search-oracle',
];

/**
 * The order in which test files begin: those that have a process of their own, then the others, which share two that end where one of the
 * former comes in between.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification): number => {
      if (project.name === 'fast-alone') return -1;
      const place = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return place === -1 ? LONGEST.length : place;
    };
    // Sorting keeps the order of those with one rank.
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
