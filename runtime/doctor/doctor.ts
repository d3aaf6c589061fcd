import { checkTransport } from '../config/check-transport.js';
import { ConfigError } from '../config/config-error.js';
import { checkExposure } from '../config/exposure.js';
import { isMongoUrl } from '../config/mongo-url.js';
import { readConfig, type Flags } from '../config/read-config.js';
import type { Config } from '../config/settings.js';
import { greatest } from '../fhir/lists.js';
import { EXIT, messageOf, printable, type Terminal } from '../cli/terminal.js';
import { checkBase } from './check-base.js';
import { checkClock, checkIndex, checkJobs, checkSubscriptions } from './check-data.js';
import { checkDisk, checkFiles, fileOf } from './check-machine.js';
import { checkMongo, checkSharding } from './check-mongo.js';
import { checkTls } from './check-tls.js';
import { reportOf, type Finding } from './finding.js';

/** How each level begins its line. */
const MARK = { fine: 'ok', warning: 'WARN', fault: 'FAULT', unknown: '?' } as const;

/**
 * `kiln doctor`: looks at the configuration, the machine, the store and the servers, beside those that run, and says what is
 * wrong and what to do about it. It changes nothing.
 *
 * @param sharding also says how requests spread over the shards of a cluster, and judges its keys
 * @returns the exit code: 1 where there is a fault
 * @throws ConfigError where the settings cannot be read
 */
export async function runDoctor(flags: Flags, terminal: Terminal, sharding = false): Promise<number> {
  const { config } = readConfig(flags, terminal.env);
  if (config.store === 'sqlite::memory:') throw new ConfigError('a memory store has nothing to look at');
  const findings = [...(await examine(config)), ...(sharding ? await checkSharding(config) : [])];
  const width = greatest(findings.map(({ check }) => check.length));
  for (const { check, level, text, remedy } of findings) {
    const line = `${MARK[level].padEnd(5)}  ${check.padEnd(width)}  ${printable(text)}`;
    terminal.out(remedy === undefined ? line : `${line}: ${printable(remedy)}`);
  }
  return findings.some(({ level }) => level === 'fault') ? EXIT.failed : EXIT.done;
}

async function examine(config: Config): Promise<Finding[]> {
  const now = Date.now();
  return [
    checkConfig(config),
    ...checkFiles(config),
    ...checkTls(config, now),
    await checkBase(config),
    ...(await examineStore(config, now)),
  ];
}

/** Whether a server starts with these settings. */
function checkConfig(config: Config): Finding {
  const report = reportOf('config');
  try {
    checkExposure(config);
    checkTransport(config);
    return report.fine('the settings go together');
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return report.fault(messageOf(error), 'the server does not start with these settings');
  }
}

async function examineStore(config: Config, now: number): Promise<Finding[]> {
  const report = reportOf('store');
  const { openCore, storeExists } = await import('../server.js');
  const file = fileOf(config);
  if (!isMongoUrl(config.store) && !storeExists(config.store)) {
    return [report.fault(`there is no store at ${file}`, 'set --store; kiln serve makes one where there is none')];
  }
  try {
    const servers = await checkMongo(config);
    const core = await openCore(config, { existing: true });
    const { store } = core;
    try {
      return [
        ...servers,
        ...(file === undefined ? [] : [checkDisk(file)]),
        report.fine('the store can be read'),
        await checkClock(store, now),
        await checkIndex(store, core.indexStatus),
        ...(await checkJobs(store, now)),
        ...(await checkSubscriptions(store)),
      ];
    } finally {
      await store.close();
    }
  } catch (error) {
    return [report.fault(messageOf(error), 'mend this first: nothing else of the store was looked at')];
  }
}
