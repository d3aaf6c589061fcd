import { readFile } from 'node:fs/promises';

import { ConfigError } from '../config/config-error.js';
import { greatest } from '../fhir/lists.js';
import { openClient, type ServerClient } from '../cli/jobs/server-client.js';
import { checkAnswers } from '../cli/load/check-answers.js';
import { checkClient, DEFAULT_URL, readUrl, type LoadFlags } from '../cli/load/load-options.js';
import { tokensFor } from '../cli/load/load-tokens.js';
import { stopOnSignal, stoppedBy, type StopSignal } from '../cli/stop-on-signal.js';
import { EXIT, failed, messageOf, printable, type Terminal } from '../cli/terminal.js';
import { checkRequirements, type Finding } from './check-requirements.js';
import { createProbe, type MutableJson, type Probe } from './probe.js';
import { EXPECTATIONS, requirementsOf, type Requirement } from './requirements.js';

/** Options of `kiln conformance`. */
export interface ConformanceFlags extends Pick<LoadFlags, 'url' | 'token' | 'client' | 'key'> {
  /** Only what is asked of this type. */
  readonly type?: string;
  /** Files of resources that data are made from. */
  readonly data?: readonly string[];
  /** Only what fails or was not asked is printed. */
  readonly failures?: boolean;
}

/**
 * `kiln conformance FILE|URL`: reads a CapabilityStatement and asks a running server for all that is in it, with resources that it creates
 * and removes. It prints a line for each requirement.
 *
 * @returns the exit code: 1 where a SHALL does not work, or a resource could not be removed
 * @throws ConfigError
 */
export async function runConformance(from: string, options: ConformanceFlags, terminal: Terminal): Promise<number> {
  // What a server says of itself is asked of that server.
  const itself = /^(https?:.*)\/metadata$/.exec(from)?.[1];
  const url = readUrl(options.url, {}, terminal) ?? itself ?? DEFAULT_URL;
  checkClient(options, url);
  const stop = stopOnSignal();
  try {
    const tokens = await tokensFor(url, options, options.token ?? (terminal.env['KILN_TOKEN'] || undefined));
    const client = openClient(url, tokens, stop.signal);
    // What was created is removed also when the check is stopped.
    const cleaner = openClient(url, tokens, new AbortController().signal);
    const all = await readStatement(from, client);
    const requirements = all.filter(({ type }) => options.type === undefined || type === options.type);
    if (requirements.length === 0) throw new ConfigError(`${from} asks for nothing of ${options.type ?? 'a server'}`);
    const examples = await readExamples(options.data ?? []);
    const { TABLES } = await import('../server.js');
    await checkAnswers(url);
    return await check(
      requirements,
      (probe) => checkRequirements(requirements, probe, TABLES, examples),
      createProbe(client, cleaner),
      options,
      terminal,
    );
  } catch (error) {
    if (stop.signal.aborted) return stoppedBy(stop.signal.reason as StopSignal, 'the check is not whole', terminal);
    return failed(error, terminal);
  } finally {
    stop.forget();
  }
}

/** @throws ConfigError where there is no statement */
async function readStatement(from: string, client: ServerClient): Promise<readonly Requirement[]> {
  try {
    return requirementsOf(JSON.parse(await readText(from, client)));
  } catch (error) {
    throw new ConfigError(`${from}: ${messageOf(error)}`);
  }
}

/** The token goes to the server that is checked, and to no other. */
async function readText(from: string, client: ServerClient): Promise<string> {
  if (!/^https?:/.test(from)) return readFile(from, 'utf8');
  const headers = { accept: 'application/fhir+json, application/json' };
  const isSame = URL.canParse(from) && new URL(from).origin === new URL(client.base).origin;
  const answer = isSame ? await client.send('GET', from, headers) : await fetch(from, { headers, redirect: 'error' });
  if (!answer.ok) throw new Error(`the answer is ${answer.status}`);
  return answer.text();
}

/** Reads resources, by type; the server gives them other ids. @throws ConfigError */
async function readExamples(files: readonly string[]): Promise<ReadonlyMap<string, MutableJson>> {
  const examples = new Map<string, MutableJson>();
  for (const file of files) {
    try {
      const { id: _, ...resource } = JSON.parse(await readFile(file, 'utf8')) as MutableJson;
      examples.set(String(resource['resourceType']), resource);
    } catch (error) {
      throw new ConfigError(`--data ${file}: ${messageOf(error)}`);
    }
  }
  return examples;
}

async function check(
  requirements: readonly Requirement[],
  find: (probe: Probe) => AsyncIterable<Finding>,
  probe: Probe,
  { failures = false }: ConformanceFlags,
  terminal: Terminal,
): Promise<number> {
  const findings: Finding[] = [];
  const print = linePrinter(requirements);
  try {
    for await (const finding of find(probe)) {
      findings.push(finding);
      if (!failures || finding.result !== 'works') terminal.out(print(finding));
    }
  } catch (error) {
    await removeAll(probe, terminal);
    throw error;
  }
  const left = await removeAll(probe, terminal);
  for (const line of summaryOf(findings)) terminal.out(line);
  const isUnmet = findings.some(({ requirement, result }) => requirement.expectation === 'SHALL' && result === 'fails');
  return isUnmet || left > 0 ? EXIT.failed : EXIT.done;
}

/** Removes what was created. @returns how many resources could not be removed */
async function removeAll(probe: Probe, terminal: Terminal): Promise<number> {
  const left = await probe.removeAll();
  const some = left.slice(0, 10).join(', ');
  if (left.length > 0) terminal.err(`kiln: ${left.length} resources could not be removed: ${some}`);
  return left.length;
}

/** Returns what makes a line of a finding, in columns that fit all requirements. */
function linePrinter(requirements: readonly Requirement[]): (finding: Finding) => string {
  const widthOf = (text: (each: Requirement) => string): number =>
    Math.min(60, greatest(requirements.map((each) => text(each).length)));
  const typeOf = ({ type = '(system)' }: Requirement): string => type;
  const whatOf = ({ kind, name }: Requirement): string => printable(`${kind} ${name}`);
  const [types, whats] = [widthOf(typeOf), widthOf(whatOf)];
  return ({ requirement, result, note }) => {
    const columns = [
      requirement.expectation.padEnd(6),
      typeOf(requirement).padEnd(types),
      whatOf(requirement).padEnd(whats),
    ];
    return [...columns, note === undefined ? result : `${result}: ${note}`].join('  ');
  };
}

function summaryOf(findings: readonly Finding[]): readonly string[] {
  return EXPECTATIONS.flatMap((expectation) => {
    const some = findings.filter(({ requirement }) => requirement.expectation === expectation);
    const count = (wanted: Finding['result']): number => some.filter(({ result }) => result === wanted).length;
    if (some.length === 0) return [];
    return [
      `${expectation}: ${count('works')} of ${some.length} work, ${count('fails')} fail, ${count('unasked')} could not be asked`,
    ];
  });
}
