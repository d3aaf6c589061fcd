/**
 * The environment without what is said to tests (`KILN_TEST_…`): a command of its own takes that for settings. Servers have
 * no authorization unless a test is about it, and says `--auth smart`.
 */
export const ENVIRONMENT: Readonly<Record<string, string | undefined>> = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('KILN_'))),
  KILN_AUTH: 'open',
  // Tests of stale parameters reindex when they want it.
  KILN_REINDEX_AUTOMATIC: 'false',
};
