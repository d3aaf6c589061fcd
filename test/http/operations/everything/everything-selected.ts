import { beforeAll, expect, it } from 'vitest';

import type { Store } from '../../../../runtime/store/store.js';
import { scopedServer } from '../../auth/scoped.js';
import type { Answer } from '../../server.js';

interface Entry {
  readonly resource: {
    readonly resourceType: string;
    readonly id: string;
  };
}

/** What `$everything` selects: by type, by change, by dates of care, and by extensions */
export function everythingSelected(store: Store): void {
  const server = scopedServer(store);
  type Client = Pick<typeof server.all, 'send'>;
  const put = async (body: { resourceType: string; id: string; [name: string]: unknown }): Promise<void> => {
    const answer = await server.all.send('PUT', `/${body.resourceType}/${body.id}`, body);
    expect(answer.status, answer.text).toBeLessThan(300);
  };
  const patient = (id: string) => ({ subject: { reference: `Patient/${id}` } });
  const code = { text: 'x' };
  const entriesOf = (answer: Answer): Entry[] => {
    expect(answer.status, answer.text).toBe(200);
    expect(answer.json().type).toBe('searchset');
    return answer.json().entry ?? [];
  };
  const nameOf = ({ resource: { resourceType, id } }: Entry) => `${resourceType}/${id}`;
  const names = (answer: Answer) => entriesOf(answer).map(nameOf);
  const get = (path: string, who: Client = server.all) => who.send('GET', path);
  /** The names on all pages. */
  const walk = async (path: string, who: Client = server.all): Promise<string[][]> => {
    const pages: string[][] = [];
    for (let next: string | undefined = path; next !== undefined;) {
      const answer: Answer = await get(next, who);
      pages.push(names(answer));
      const { link } = answer.json() as { link: { relation: string; url: string }[] };
      const url = link.find(({ relation }) => relation === 'next')?.url;
      next = url?.slice(url.indexOf('/fhir') + 5);
      expect(pages.length).toBeLessThan(100);
    }
    return pages;
  };

  beforeAll(async () => {
    await put({ resourceType: 'Organization', id: 'org', name: 'one' });
    await put({ resourceType: 'Practitioner', id: 'dr', active: true });
    await put({ resourceType: 'Device', id: 'd' });
    await put({ resourceType: 'Patient', id: 'a', managingOrganization: { reference: 'Organization/org' } });
    await put({ resourceType: 'Patient', id: 'b' });
    await put({ resourceType: 'Encounter', id: 'e1', status: 'completed', ...patient('a') });
    await put({ resourceType: 'Condition', id: 'c1', ...patient('a'), clinicalStatus: code, code });
    const of = { encounter: { reference: 'Encounter/e1' }, performer: [{ reference: 'Practitioner/dr' }] };
    await put({ resourceType: 'Observation', id: 'o1', status: 'final', code, ...patient('a'), ...of });
    await put({ resourceType: 'Observation', id: 'o2', status: 'final', code, ...patient('a'), device: { reference: 'Device/d' } }); // prettier-ignore
  });

  it('_type and _since are asked of what is referred to, whoever refers to it', async () => {
    expect(names(await get('/Patient/a/$everything?_type=Practitioner'))).toEqual(['Patient/a', 'Practitioner/dr']);
    const some = names(await get('/Patient/a/$everything?_type=Practitioner,Condition'));
    expect(some).toEqual(['Patient/a', 'Condition/c1', 'Practitioner/dr']);
    for (const count of [1, 2]) {
      const pages = await walk(`/Patient/a/$everything?_type=Organization,Practitioner&_count=${count}`);
      expect(pages.flat().sort()).toEqual(['Organization/org', 'Patient/a', 'Practitioner/dr']);
    }
    const { lastUpdated } = (await get('/Observation/o2')).json().meta as { lastUpdated: string };
    await put({ resourceType: 'Device', id: 'd', lotNumber: '2' });
    expect(names(await get(`/Patient/a/$everything?_since=${lastUpdated}`))).toEqual([
      ...['Patient/a', 'Observation/o2', 'Device/d'],
    ]);
  });

  it('start and end ask each type for the dates of care that it has', async () => {
    const of = patient('dates');
    await put({ resourceType: 'Patient', id: 'dates', birthDate: '1950-01-01' });
    const active = { ...of, clinicalStatus: code, code };
    await put({ resourceType: 'Condition', id: 'past', ...active, onsetDateTime: '2010-01-01', abatementDateTime: '2012-01-01' }); // prettier-ignore
    await put({ resourceType: 'Condition', id: 'long', ...active, onsetDateTime: '2010-01-01', abatementDateTime: '2022-01-01' }); // prettier-ignore
    await put({ resourceType: 'Condition', id: 'recorded', ...active, recordedDate: '2020-05-05' });
    await put({ resourceType: 'Condition', id: 'later', ...active, onsetDateTime: '2024-01-01' });
    await put({ resourceType: 'Condition', id: 'undated', ...active });
    const medication = { concept: code };
    await put({ resourceType: 'MedicationRequest', id: 'old', status: 'active', intent: 'order', medication, ...of, authoredOn: '2015-01-01' }); // prettier-ignore
    await put({ resourceType: 'ImagingStudy', id: 'now', status: 'available', ...of, started: '2020-06-01' });
    await put({ resourceType: 'RelatedPerson', id: 'child', patient: of.subject, birthDate: '1980-01-01' });
    const between = async (query: string) =>
      names(await get(`/Patient/dates/$everything?${query}`))
        .slice(1)
        .sort();
    const always = ['Condition/undated', 'RelatedPerson/child'];
    expect(await between('start=2020-01-01&end=2020-12-31')).toEqual(
      [...always, 'Condition/long', 'Condition/recorded', 'ImagingStudy/now'].sort(),
    );
    expect(await between('start=2023-01-01')).toEqual([...always, 'Condition/later'].sort());
    expect(await between('end=2013-01-01')).toEqual([...always, 'Condition/long', 'Condition/past'].sort());
  });

  it('one Bundle has the whole record, unless pages are asked for', async () => {
    await put({ resourceType: 'Patient', id: 'full' });
    const entry = Array.from({ length: 45 }, () => ({
      request: { method: 'POST', url: 'Basic' },
      resource: { resourceType: 'Basic', code, ...patient('full') },
    }));
    const stored = await server.all.send('POST', '/', { resourceType: 'Bundle', type: 'transaction', entry });
    expect(stored.status, stored.text).toBe(200);
    const pages = await walk('/Patient/full/$everything');
    expect(pages.map(({ length }) => length)).toEqual([46]);
    expect((await walk('/Patient/full/$everything?_count=20')).map(({ length }) => length)).toEqual([20, 20, 6]);
  });

  it('Encounter, EpisodeOfCare: what names them by an extension, where a type has no element for it', async () => {
    const extension = (id: string, reference: string) => ({
      extension: [{ url: `http://hl7.org/fhir/StructureDefinition/${id}`, valueReference: { reference } }],
    });
    const goal = { resourceType: 'Goal', lifecycleStatus: 'active', description: code, ...patient('a') };
    const ofEncounter = extension('encounter-associatedEncounter', 'Encounter/e1');
    await put({ ...goal, id: 'goal', ...ofEncounter });
    await put({ ...goal, id: 'other', ...extension('encounter-associatedEncounter', 'Encounter/e10') });
    await put({ ...goal, id: 'foreign', ...ofEncounter, ...patient('b') });
    expect(names(await get('/Encounter/e1/$everything')).sort()).toEqual([
      ...['Encounter/e1', 'Goal/goal', 'Observation/o1', 'Patient/a', 'Practitioner/dr'],
    ]);
    expect((await walk('/Encounter/e1/$everything?_count=1')).flat().sort()).toContain('Goal/goal');
    expect(names(await get('/Encounter/e1/$everything?_type=Goal'))).toEqual(['Encounter/e1', 'Goal/goal']);
    const narrow = server.as('system/Encounter.r system/Observation.rs');
    expect(names(await get('/Encounter/e1/$everything', narrow))).toEqual(['Encounter/e1', 'Observation/o1']);
    await put({ resourceType: 'EpisodeOfCare', id: 'ext', status: 'active', patient: { reference: 'Patient/a' } });
    const ofEpisode = extension('workflow-episodeOfCare', 'EpisodeOfCare/ext');
    await put({ ...goal, id: 'later', ...ofEpisode });
    await put({ resourceType: 'Observation', id: 'o9', status: 'final', code, ...patient('a'), ...ofEpisode });
    const found = names(await get('/EpisodeOfCare/ext/$everything')).sort();
    expect(found).toEqual(['EpisodeOfCare/ext', 'Goal/later', 'Observation/o9', 'Patient/a']);
    const made = ['Goal/goal', 'Goal/other', 'Goal/foreign', 'Goal/later', 'Observation/o9', 'EpisodeOfCare/ext'];
    for (const each of made) await server.all.send('DELETE', `/${each}`);
  });

  it('Group: members that are inactive belong to it no more', async () => {
    await put({ resourceType: 'Patient', id: 'in' });
    const member = ['a', 'in'].map((id) => ({ entity: { reference: `Patient/${id}` }, inactive: id === 'a' }));
    await put({ resourceType: 'Group', id: 'g', type: 'person', membership: 'enumerated', member });
    const pages = await walk('/Group/g/$everything');
    expect(pages).toHaveLength(1);
    expect(pages.flat().sort()).toEqual(['Group/g', 'Patient/in']);
    await server.all.send('DELETE', '/Group/g');
  });

  it('leaves no defects', () => expect(server.defects).toEqual([]));
}
