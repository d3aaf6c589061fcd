import { describe, expect, it } from 'vitest';

import { FhirError, type ErrorCode } from '../../../runtime/fhir/errors.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { createToyStore } from '../../toy/store.js';
import { topic, triggered } from '../../http/subscriptions/samples.js';
import { changeOf, matched, owned, planOf, servicesOn } from './matching.js';
import { indexSubscriptions } from '../../../runtime/subscriptions/match/subscription-index.js';
import { matchVersion } from '../../../runtime/subscriptions/match/match-version.js';

const services = servicesOn(createToyStore());
const observation = (status: string, more: object = {}): Resource => ({
  resourceType: 'Observation',
  status,
  code: { coding: [{ system: 'http://loinc.org', code: '1' }] },
  subject: { reference: 'Patient/1' },
  effectiveDateTime: '2024-05-01',
  ...more,
});
const final = observation('final');
const other = observation('registered');

async function fires(of: Resource, before: Resource | undefined, after: Resource | undefined): Promise<boolean> {
  return (await matched([owned(planOf(of, services), services)], before, after, services)).length > 0;
}

/** The truth of criteria. https://hl7.org/fhir/R5/subscriptiontopic-definitions.html#SubscriptionTopic.resourceTrigger.queryCriteria */
describe('queryCriteria', () => {
  const [previous, current] = ['status:not=final', 'status=final'];
  const both = { previous, current };
  it.each<[string, object, Resource | undefined, Resource | undefined, boolean]>([
    // update
    ['update, current alone: holds', { current }, other, final, true],
    ['update, current alone: fails', { current }, other, other, false],
    ['update, previous alone: holds', { previous }, other, other, true],
    ['update, previous alone: fails', { previous }, final, other, false],
    ['update, either: both hold', both, other, final, true],
    ['update, either: the first', both, other, other, true],
    ['update, either: the second', both, final, final, true],
    ['update, either: none', both, final, other, false],
    ['update, both: both hold', { ...both, requireBoth: true }, other, final, true],
    ['update, both: the first', { ...both, requireBoth: true }, other, other, false],
    ['update, both: the second', { ...both, requireBoth: true }, final, final, false],
    // create
    ['create, current alone: holds', { current }, undefined, final, true],
    ['create, current alone: fails', { current }, undefined, other, false],
    ['create, previous alone, nothing prescribed', { previous }, undefined, final, false],
    ['create, previous alone passes', { previous, resultForCreate: 'test-passes' }, undefined, other, true],
    ['create, previous alone fails', { previous, resultForCreate: 'test-fails' }, undefined, final, false],
    ['create, resultForCreate without previous', { current, resultForCreate: 'test-passes' }, undefined, other, false],
    ['create, either, nothing prescribed: current', both, undefined, final, true],
    ['create, either, nothing prescribed: fails', both, undefined, other, false],
    ['create, either, passes', { ...both, resultForCreate: 'test-passes' }, undefined, other, true],
    ['create, both, nothing prescribed: current', { ...both, requireBoth: true }, undefined, final, true],
    ['create, both, passes', { ...both, requireBoth: true, resultForCreate: 'test-passes' }, undefined, final, true],
    ['create, both, passes, current fails', { ...both, requireBoth: true, resultForCreate: 'test-passes' }, undefined, other, false], // prettier-ignore
    ['create, both, fails', { ...both, requireBoth: true, resultForCreate: 'test-fails' }, undefined, final, false],
    // delete
    ['delete, current alone, nothing prescribed', { current }, final, undefined, false],
    ['delete, current alone passes', { current, resultForDelete: 'test-passes' }, final, undefined, true],
    ['delete, current alone fails', { current, resultForDelete: 'test-fails' }, final, undefined, false],
    ['delete, previous alone: holds', { previous }, other, undefined, true],
    ['delete, previous alone: fails', { previous }, final, undefined, false],
    ['delete, resultForDelete without current', { previous, resultForDelete: 'test-passes' }, final, undefined, false],
    ['delete, both, passes', { ...both, requireBoth: true, resultForDelete: 'test-passes' }, other, undefined, true],
    ['delete, both, passes, previous fails', { ...both, requireBoth: true, resultForDelete: 'test-passes' }, final, undefined, false], // prettier-ignore
    ['delete, both, nothing prescribed: previous', { ...both, requireBoth: true }, other, undefined, true],
  ])('%s', async (_, queryCriteria, before, after, expected) => {
    expect(await fires(triggered({ queryCriteria }), before, after)).toBe(expected);
  });
});

describe('triggers', () => {
  it('without criteria fire at every interaction', async () => {
    for (const [before, after] of [
      [undefined, final],
      [final, other],
      [other, undefined],
    ]) {
      expect(await fires(triggered({}), before, after)).toBe(true);
    }
  });

  it('fire at the interactions that they name', async () => {
    const of = triggered({ supportedInteraction: ['create', 'delete'] });
    expect(await fires(of, undefined, final)).toBe(true);
    expect(await fires(of, other, final)).toBe(false);
    expect(await fires(of, final, undefined)).toBe(true);
  });

  it('are joined by or, and make one event', async () => {
    const of = topic({ resourceTrigger: [{ resource: 'Patient' }, { resource: 'Observation' }, { resource: 'Resource' }] }); // prettier-ignore
    expect(await matched([owned(planOf(of, services), services)], undefined, final, services)).toHaveLength(1);
  });

  it('of general types fire for those that inherit from them', async () => {
    const binary = { resourceType: 'Binary', contentType: 'text/plain' };
    expect(await fires(triggered({ resource: 'Resource' }), undefined, binary)).toBe(true);
    expect(await fires(triggered({ resource: 'DomainResource' }), undefined, binary)).toBe(false);
    expect(await fires(triggered({ resource: 'DomainResource' }), undefined, final)).toBe(true);
  });

  it('need both kinds of criteria to hold', async () => {
    const of = triggered({ queryCriteria: { current: 'status=final' }, fhirPathCriteria: 'subject.exists()' });
    expect(await fires(of, undefined, final)).toBe(true);
    expect(await fires(of, undefined, observation('final', { subject: undefined }))).toBe(false);
    expect(await fires(of, undefined, other)).toBe(false);
  });
});

/** The criteria that fail at a create; an event would be a mistake. */
async function failuresOf(fhirPathCriteria: string, after = final): Promise<readonly string[]> {
  const index = indexSubscriptions([owned(planOf(triggered({ fhirPathCriteria }), services), services)]);
  const { matched: found, failures } = await matchVersion(changeOf(undefined, after), index, services);
  expect(found).toEqual([]);
  return failures.map(({ text }) => text);
}

describe('fhirPathCriteria', () => {
  it.each<[string, string, Resource | undefined, Resource | undefined, boolean]>([
    ['both versions', "%previous.status != 'final' and %current.status = 'final'", other, final, true],
    ['the version before is empty at a create', '%previous.empty()', undefined, final, true],
    ['the version is empty at a delete', '%current.empty() and $this.exists()', final, undefined, true],
    ['%resource is the version before at a delete', "%resource.status = 'final'", final, undefined, true],
    ['a single item that is no boolean', 'subject', undefined, final, true],
    ['nothing', 'bodySite', undefined, final, false],
    ['a bar is or', "(status = 'final') | (status = 'amended')", undefined, final, true],
    ['a bar of two that fail', "(status = 'a') | (status = 'b')", undefined, final, false],
    ['the example of the specification', "(%previous.id.empty() or (%previous.status != 'final')) and (%current.status = 'final')", undefined, final, true], // prettier-ignore
    ['the time of the event', 'now() < @2027-01-01T00:00:00Z', undefined, final, true],
    ['the type in front', "Observation.status = 'final'", undefined, final, true],
  ])('%s', async (_, fhirPathCriteria, before, after, expected) => {
    expect(await fires(triggered({ fhirPathCriteria }), before, after)).toBe(expected);
  });

  it('match regular expressions in linear time', async () => {
    const text = observation('final', { code: { text: `${'a'.repeat(40)}!` } });
    const criteria = (pattern: string) => triggered({ fhirPathCriteria: `code.text.${pattern}` });
    expect(await fires(criteria("matches('^(a+)+$')"), undefined, text)).toBe(false);
    expect(await fires(criteria("matchesFull('(a+)+')"), undefined, text)).toBe(false);
    expect(await fires(criteria("matches('^(a+)+!$')"), undefined, text)).toBe(true);
  });

  it.each([
    ['replace', `'a'${".replace('a', 'aa')".repeat(28)}.length() > 0`],
    ['replace nothing', `'a'${".replace('', 'aaaaaaaa')".repeat(28)}.length() > 0`],
    ['join', `code.coding.code${".select($this | ($this & ' ')).join('1234567890')".repeat(28)}.length() > 0`],
    ['+', `'a'${'.select($this + $this)'.repeat(28)}.length() > 0`],
    ['&', `'a'${'.select($this & $this)'.repeat(28)}.length() > 0`],
    ['many texts', `'a'${".replace('a', 'aa')".repeat(16)}${".select($this & '')".repeat(100)}.length() > 0`],
    ['a regular expression', `'a'${".replace('a', 'aa')".repeat(16)}.matches('(a?){900}b').not()`],
  ])('that make too much by %s fire nothing, and are reported', async (_, fhirPathCriteria) => {
    expect(await failuresOf(fhirPathCriteria)).toEqual([fhirPathCriteria]);
  });

  it('that fail on a version fire nothing, are reported, and leave others alone', async () => {
    const bad = "code.text.matches(status + '[')";
    const plans = [bad, 'true'].map((fhirPathCriteria) => planOf(triggered({ fhirPathCriteria }), services));
    const all = plans.map((plan) => owned(plan, services));
    const text = observation('final', { code: { text: 'x' } });
    const { matched: found, failures } = await matchVersion(changeOf(other, text), indexSubscriptions(all), services);
    expect(found).toEqual([all[1]]);
    expect(failures.map((each) => each.text)).toEqual([bad]);
    // The message reaches the log.
    expect(failures[0]!.message).not.toContain('final');
  });

  it('that look at too much fire nothing, and are reported', async () => {
    const component = Array.from({ length: 400 }, (_, i) => ({ code: { text: `c${i}` }, valueString: 'x' }));
    const fhirPathCriteria =
      'component.where(%resource.component.where(code.text = $this.code.text).count() > 2).exists()';
    expect(await failuresOf(fhirPathCriteria, observation('final', { component }))).toEqual([fhirPathCriteria]);
  });
});

describe('search criteria that the store cannot answer', () => {
  const queryCriteria = { current: 'subject:Patient.name=x' };
  const failing = (code: ErrorCode) => {
    const fail = () => Promise.reject(new FhirError(code));
    return { ...services, store: { ...services.store, find: fail, findMultiType: fail } };
  };
  const all = [triggered({ queryCriteria }), triggered({})].map((of) => owned(planOf(of, services), services));

  it('fire nothing where they are too costly, are reported, and leave others alone', async () => {
    const { matched: found, failures } = await matchVersion(changeOf(other, final), indexSubscriptions(all), failing('too-costly')); // prettier-ignore
    expect([found, failures.map(({ text }) => text)]).toEqual([[all[1]], ['Observation']]);
  });

  it.each(['store-unavailable', 'store-busy'] as const)('stop the matching where the store fails: %s', async (code) => {
    const matching = matchVersion(changeOf(other, final), indexSubscriptions(all), failing(code));
    await expect(matching).rejects.toMatchObject({ code });
  });
});

describe('filters', () => {
  const of = topic({
    resourceTrigger: [{ resource: 'Observation' }, { resource: 'Patient' }],
    canFilterBy: [
      { resource: 'Observation', filterParameter: 'code', modifier: ['not'] },
      { resource: 'Observation', filterParameter: 'date', comparator: ['gt'] },
      { resource: 'Observation', filterParameter: 'subject' },
      { filterParameter: '_id' },
      { resource: 'Patient', filterParameter: 'gender' },
      {
        resource: 'Observation',
        filterParameter: 'what',
        filterDefinition: 'http://hl7.org/fhir/SearchParameter/clinical-code',
      },
    ],
  });
  const plan = planOf(of, services);
  const by = (...filterBy: object[]) => owned(plan, services, { filterBy });
  const code = (value: string, more: object = {}) => ({ filterParameter: 'code', value, ...more });
  const gets = async (one: ReturnType<typeof by>, before: Resource | undefined, after: Resource | undefined) =>
    (await matched([one], before, after, services)).length > 0;

  it.each<[string, object[], boolean]>([
    ['one that holds', [code('http://loinc.org|1')], true],
    ['one that fails', [code('http://loinc.org|2')], false],
    ['without a system', [code('1')], true],
    ['a comma is or', [code('2,1')], true],
    ['several are and', [code('1'), { filterParameter: 'date', value: 'gt2024-06' }], false],
    ['a modifier', [code('1', { modifier: 'not' })], false],
    ['a comparator', [{ filterParameter: 'date', comparator: 'gt', value: '2024-04' }], true],
    ['a reference', [{ filterParameter: 'subject', value: 'Patient/1' }], true],
    ['a reference without a type', [{ filterParameter: 'subject', value: '2' }], false],
    ['one of another type', [{ filterParameter: 'gender', value: 'male' }], true],
    ['an id', [{ filterParameter: '_id', value: 'f' }], true],
    ['another id', [{ filterParameter: '_id', value: 'g' }], false],
    ['a label', [{ filterParameter: 'what', value: '1' }], true],
  ])('%s', async (_, filterBy, expected) => {
    expect(await gets(by(...filterBy), undefined, final)).toBe(expected);
  });

  it('are judged on the new version, of a deletion on the one before', async () => {
    const filter = by(code('1'));
    const moved = observation('final', { code: { coding: [{ code: '2' }] } });
    expect(await gets(filter, final, moved)).toBe(false);
    expect(await gets(filter, moved, final)).toBe(true);
    expect(await gets(filter, final, undefined)).toBe(true);
    expect(await gets(filter, moved, undefined)).toBe(false);
  });

  it('by equality are looked up, and those with several values get one event', async () => {
    const all = [by(), by(code('1')), by(code('2')), by(code('1,2')), by(code('http://loinc.org|1')), by(code('x|1'))];
    const found = await matched(all, undefined, final, services);
    expect(all.map((each) => found.filter((other) => other === each).length)).toEqual([1, 1, 0, 1, 1, 0]);
  });
});
