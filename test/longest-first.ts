import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The test files that take about five seconds or more on two idle cores, and of the long ones a minute, the longest first. Two of them that
 * begin at the end leave a core idle, and vitest itself goes by the size of a file where it has not run it before: there these would be the
 * last.
 */
export const LONGEST = [
  'contract/mongo',
  'http/operations/operations',
  'contract/sqlite-file',
  'contract/mongo-only',
  'conformance/search/search-oracle',
  'service/auth',
  'service/load-running',
  'unit/core/stored-definitions',
  'http/operations/terminology/terminology-processes',
  'http/auth/leaks/leaks',
  'http/jobs/jobs',
  'service/stored-parameters/stored-parameters',
  'service/backup',
  'conformance/extraction/extraction',
  'service/shutdown',
  'service/subscriptions/web-sockets',
  'service/subscriptions/socket-access',
  'service/reindex',
  'contract/toy',
  'unit/cli/load-command',
  'conformance/search/search-matrix',
  'conformance/validation/validate',
  'conformance/search/search-examined',
  'unit/store/sqlite/sqlite-links-examined',
  'generator/accept',
  'http/transport/large-bodies',
  'unit/indexing/stored-adversarial',
  'contract/mongo-open',
  'long/process/soak',
  'long/mongo/mongo-primary-killed',
  'long/mongo/mongo-soak',
  'long/search/search-links',
  'long/process/load-memory',
  'long/process/leaks',
  'long/search/stored-parameters',
  'long/mongo/mongo-durability',
  'long/jobs/reindex-kills',
  'long/jobs/import-kills',
  'long/jobs/export-kills',
  'long/process/pages',
  'long/formats/odd-contents',
  'long/process/large-transactions',
  'long/jobs/undo-at-length',
  'long/search/search-examined',
  'long/search/search-oracle',
  'long/search/search-random',
  'long/mongo/mongo-at-length',
  'long/mongo/mongo-examples',
  'long/formats/patch-round-trip',
  'long/formats/validate-agreement',
];

/**
 * The order in which test files begin: those that have a process of their own, then the others, which share processes that end where one of the
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
