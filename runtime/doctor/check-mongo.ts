import { isMongoUrl } from '../config/mongo-url.js';
import type { Config } from '../config/settings.js';
import { append } from '../fhir/lists.js';
import type { MemberState, ServerFacts } from '../server.js';
import { explainSharding, judgeShardKeys } from './check-sharding.js';
import { reportOf, type Finding } from './finding.js';

/** Clocks may differ so much, in milliseconds. */
const SKEW = 2000;

/** A secondary that is further behind holds up what waits for a majority, in milliseconds. */
const LAG = 30_000;

/** A smaller cache makes large transactions fail, in bytes. */
const SMALL_CACHE = 1024 ** 3;

/** Above this share of changed pages the server makes writers wait. */
const DIRTY = 0.2;

/** Asks the servers of a MongoDB store how they are, and judges it. @returns nothing for another store */
export async function checkMongo({ store }: Pick<Config, 'store'>): Promise<Finding[]> {
  if (!isMongoUrl(store)) return [];
  const { examineMongo } = await import('../server.js');
  return judgeServers(await examineMongo(store));
}

/** Explains and judges the sharding of a MongoDB store. @returns the explanation alone for another store */
export async function checkSharding({ store }: Pick<Config, 'store'>): Promise<Finding[]> {
  if (!isMongoUrl(store)) return explainSharding();
  const { examineMongo } = await import('../server.js');
  // That it cannot be reached is a finding of its own.
  const facts = await examineMongo(store).catch(() => undefined);
  return [...explainSharding(), ...(facts === undefined ? [] : judgeShardKeys(facts.shardKeys))];
}

/** Judges what the servers of a database say. */
export function judgeServers({ skew, members, isJournaled, cache, refused }: ServerFacts): Finding[] {
  const mongo = reportOf('mongodb');
  const findings: Finding[] = [];
  if (Math.abs(skew) > SKEW) {
    const text = `the clock of the primary differs from that of this machine by ${(skew / 1000).toFixed(1)} s`;
    findings.push(mongo.fault(text, 'set the clocks of all machines by NTP'));
  }
  if (members !== undefined) append(findings, [...members.flatMap(judgeMember), ...judgeVotes(members)]);
  if (isJournaled === false) {
    findings.push(
      mongo.fault(
        'the set acknowledges writes before they are in the journal (writeConcernMajorityJournalDefault is false)',
        'set it to true by rs.reconfig(): otherwise a power failure may take acknowledged writes away',
      ),
    );
  }
  if (cache !== undefined) append(findings, judgeCache(cache));
  if (refused.length > 0) {
    findings.push(
      mongo.unknown(
        `the user may not ask for ${refused.join(', ')}`,
        'grant the role clusterMonitor to look at the members and the cache too',
      ),
    );
  }
  return findings.length > 0 ? findings : [mongo.fine(`${members?.length ?? 1} servers, all well`)];
}

function judgeMember({ name, state, isUp, lag = 0 }: MemberState): Finding[] {
  const mongo = reportOf('mongodb');
  if (!isUp) {
    return [mongo.fault(`${name} does not answer`, 'start it: with another one down, nothing can be written any more')];
  }
  if (!['PRIMARY', 'SECONDARY', 'ARBITER'].includes(state)) {
    return [mongo.fault(`${name} is ${state}`, 'wait until it is SECONDARY; rs.status() says what it does')];
  }
  if (lag <= LAG) return [];
  const text = `${name} is ${(lag / 1000).toFixed(0)} s behind the primary`;
  return [mongo.fault(text, 'look at its disk and network: writes wait for a majority')];
}

function judgeVotes(members: readonly MemberState[]): Finding[] {
  const mongo = reportOf('mongodb');
  const data = members.filter(({ state }) => state !== 'ARBITER').length;
  if (data === 1) return [mongo.warning('one server alone has the data', 'for production run three members')];
  if (data === members.length) return [];
  return [
    mongo.warning(
      'the set has an arbiter: with one server of data down, no write reaches a majority',
      'replace the arbiter by a third server of data',
    ),
  ];
}

function judgeCache({ size, dirty }: NonNullable<ServerFacts['cache']>): Finding[] {
  const mongo = reportOf('mongodb');
  const text = `the cache has ${(size / 1024 ** 3).toFixed(2)} GiB`;
  return [
    ...(size < SMALL_CACHE
      ? [mongo.warning(text, 'give 1 GiB or more (--wiredTigerCacheSizeGB): large transactions need it')]
      : []),
    ...(dirty > size * DIRTY
      ? [
          mongo.fault(
            `${((100 * dirty) / size).toFixed(0)} % of the cache waits to be written`,
            'use a faster disk, or write less at once',
          ),
        ]
      : []),
  ];
}
