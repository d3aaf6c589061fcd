import { parentPort, workerData } from 'node:worker_threads';

import { createPatchers } from '../patch/apply/patchers.js';
import { linkPlans } from '../interactions/bundle/links/link-plan.js';
import { OwnBases } from '../path/own-bases.js';
import { createExtractor } from '../indexing/extract.js';
import { tables } from '../tables.js';
import { createValidator } from '../validate/create-validator.js';
import { createRuleChecker } from '../validate/rules/create-rule-checker.js';
import { answersTo, type Reading } from './answers.js';
import type { Answer, BodyWorkerSettings, Request } from './messages.js';

// Entry of a thread that takes in large bodies: one at a time, an answer for each time it is asked.

const port = parentPort!;
const { zone, own, validation, limits } = workerData as BodyWorkerSettings;
const reading: Reading = {
  nesting: limits.nesting,
  limits,
  readXml: async (bytes) => (await import('../format/xml/read-xml.js')).readXml(bytes, tables),
  writeXml: async (resource, pretty) =>
    (await import('../format/xml/write-xml.js')).writeXml(resource, tables, { pretty }),
  validate: createValidator(tables),
  rules: createRuleChecker(tables),
  validation,
  extract: createExtractor(tables, { zone, own: new OwnBases(own) }),
  patchers: createPatchers(tables),
  plans: linkPlans(tables),
};
let answers: AsyncGenerator<Answer> | undefined;

async function answer(): Promise<void> {
  const { value, done } = (await answers?.next()) ?? {};
  if (done !== true && value !== undefined) port.postMessage(value);
}

port.on('message', (request: Request) => {
  if (request.ask === 'read') answers = answersTo(request.job, reading);
  if (request.ask === 'drop') answers = undefined;
  else void answer();
});
