import { BUNDLE_CASES } from './bundle-cases.js';
import { DEFINITION_CASES } from './definition-cases.js';
import { JOB_CASES, LAST_CASES } from './job-cases.js';
import { MEMORY_CASES } from './memory-cases.js';
import { OPERATION_CASES } from './operation-cases.js';
import { QUERY_CASES } from './query-cases.js';
import { REQUEST_CASES } from './request-cases.js';
import type { StallCase } from './stall-case.js';
import { TERMINOLOGY_CASES } from './terminology-cases.js';
import { WRITE_CASES } from './write-cases.js';

/** All rows. Those that follow others read what these have stored. */
export const STALL_CASES: readonly StallCase[] = [
  ...REQUEST_CASES,
  ...WRITE_CASES,
  ...BUNDLE_CASES,
  ...DEFINITION_CASES,
  ...OPERATION_CASES,
  ...QUERY_CASES,
  ...TERMINOLOGY_CASES,
  ...JOB_CASES,
  ...MEMORY_CASES,
  ...LAST_CASES,
];
