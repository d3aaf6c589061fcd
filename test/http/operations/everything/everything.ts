import { beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../../runtime/store/store.js';
import { scopedServer } from '../../auth/scoped.js';
import { batch, responsesOf } from '../../bundles/bundle-server.js';
import type { Answer } from '../../server.js';
import { expectRefusal } from '../../write-server.js';

interface Entry {
  readonly resource: {
    readonly resourceType: string;
    readonly id: string;
    readonly meta: { readonly versionId: string };
  };
  readonly search: { readonly mode: string };
}

/** `$everything` of five types */
export function everything(store: Store): void {
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
  const RECORD = ['Patient/a', 'Condition/c1', 'Encounter/e1', 'Observation/o1', 'Observation/o2', 'Observation/o3'];
  const SUPPORT = ['Device/d', 'Organization/org', 'Practitioner/dr'];

  beforeAll(async () => {
    await put({ resourceType: 'Organization', id: 'org', name: 'one' });
    await put({ resourceType: 'Organization', id: 'far', name: 'not referred to' });
    await put({ resourceType: 'Practitioner', id: 'dr', active: true });
    await put({ resourceType: 'Practitioner', id: 'dr', active: false });
    await put({ resourceType: 'Device', id: 'd', owner: { reference: 'Organization/far' } });
    await put({ resourceType: 'Patient', id: 'a', managingOrganization: { reference: 'Organization/org' } });
    await put({ resourceType: 'Patient', id: 'b', link: [{ other: { reference: 'Patient/a' }, type: 'seealso' }] });
    await put({ resourceType: 'EpisodeOfCare', id: 'ep', status: 'active', patient: { reference: 'Patient/a' }, managingOrganization: { reference: 'Organization/org' } }); // prettier-ignore
    await server.all.send('DELETE', '/EpisodeOfCare/ep');
    await put({ resourceType: 'Encounter', id: 'e1', status: 'completed', ...patient('a'), actualPeriod: { start: '2020-01-01', end: '2020-01-05' } }); // prettier-ignore
    await put({ resourceType: 'Condition', id: 'c1', ...patient('a'), clinicalStatus: code, code });
    const of = { encounter: { reference: 'Encounter/e1' }, performer: [{ reference: 'Practitioner/dr' }] };
    await put({ resourceType: 'Observation', id: 'o1', status: 'final', code, ...patient('a'), ...of, effectiveDateTime: '2020-01-02' }); // prettier-ignore
    await put({ resourceType: 'Observation', id: 'o2', status: 'final', code, ...patient('a'), device: { reference: 'Device/d' }, effectiveDateTime: '2021-01-02' }); // prettier-ignore
    await put({ resourceType: 'Observation', id: 'o3', status: 'final', code, ...patient('a'), meta: { tag: [{ code: 't' }] }, note: [{ text: '{"reference":"Organization/far"}' }], effectiveDateTime: '2022-01-02' }); // prettier-ignore
    await put({ resourceType: 'Observation', id: 'p1', status: 'final', code, ...patient('b'), performer: [{ reference: 'Practitioner/dr' }] }); // prettier-ignore
    await put({ resourceType: 'Group', id: 'g', type: 'person', membership: 'enumerated', member: ['b', 'none', 'b'].map((id) => ({ entity: { reference: `Patient/${id}` } })) }); // prettier-ignore
  });

  describe('Patient (patient-operation-everything.html)', () => {
    it('the patient, the compartment, and what these refer to outside of any', async () => {
      const answer = await get('/Patient/a/$everything?_count=100');
      const entries = entriesOf(answer);
      expect(nameOf(entries[0]!)).toBe('Patient/a');
      const of = (mode: string) =>
        entries
          .filter(({ search }) => search.mode === mode)
          .map(nameOf)
          .sort();
      expect(of('match')).toEqual([...RECORD].sort());
      expect(of('include')).toEqual(SUPPORT);
      expect(answer.json().link.map(({ relation }: { relation: string }) => relation)).toEqual(['self']);
    });

    it('page by page: complete, nothing twice, whatever the size of a page', async () => {
      for (const count of [1, 2, 3, 6, 7]) {
        const pages = await walk(`/Patient/a/$everything?_count=${count}`);
        expect(pages.flat().sort(), String(count)).toEqual([...RECORD, ...SUPPORT].sort());
        expect(pages.every((page) => page.length <= count + SUPPORT.length)).toBe(true);
      }
    });

    it('_type, _since, start and end', async () => {
      const typed = names(await get('/Patient/a/$everything?_count=100&_type=Observation,Device'));
      expect(typed.sort()).toEqual(['Device/d', 'Observation/o1', 'Observation/o2', 'Observation/o3', 'Patient/a']);
      const repeated = names(await get('/Patient/a/$everything?_count=100&_type=Observation&_type=Device'));
      expect(repeated.sort()).toEqual(typed);
      const dated = names(await get('/Patient/a/$everything?_count=100&start=2020-01-01&end=2021-06-01'));
      // A Condition without a date of care is in every period.
      expect(dated.sort()).toEqual([...RECORD.filter((name) => name !== 'Observation/o3'), ...SUPPORT].sort());
      expect(names(await get('/Patient/a/$everything?_since=2999-01-01T00:00:00Z'))).toEqual(['Patient/a']);
      const since = names(await get('/Patient/a/$everything?_count=100&_since=2000-01-01T00:00:00Z'));
      expect(since).toHaveLength(RECORD.length + SUPPORT.length);
    });

    it('by POST, in XML, in a batch', async () => {
      const parameter = [
        { name: '_count', valueInteger: 2 },
        { name: '_type', valueCode: 'Observation' },
      ];
      const answer = await server.all.send('POST', '/Patient/a/$everything', { resourceType: 'Parameters', parameter });
      const { link } = answer.json();
      const pages = await walk(link[1].url.slice(link[1].url.indexOf('/fhir') + 5));
      expect([...names(answer), ...pages.flat()]).toEqual([
        'Patient/a',
        'Observation/o1',
        'Observation/o2',
        'Observation/o3',
      ]);
      const xml = await server.all.send('GET', '/Patient/a/$everything', undefined, { accept: 'application/fhir+xml' });
      expect(xml.text).toContain('<type value="searchset"/>');
      const entries = ['Patient/a/$everything', 'Patient/none/$everything'];
      const whole = await server.all.send('POST', '/', batch(...entries.map((url) => ({ request: { method: 'GET', url } })))); // prettier-ignore
      expect(responsesOf(whole).map(({ status }) => status.slice(0, 3))).toEqual(['200', '404']);
    });

    it('of all patients: each with a record of its own, nothing twice', async () => {
      const all = [...RECORD, ...SUPPORT, 'Patient/b', 'Observation/p1', 'Group/g'];
      for (const count of [1, 4, 100]) {
        const pages = await walk(`/Patient/$everything?_count=${count}`);
        expect(pages.flat().sort(), String(count)).toEqual([...all].sort());
      }
    });

    it('refuses what is wrong', async () => {
      expectRefusal(await get('/Patient/none/$everything'), 404, 'not-found');
      expectRefusal(await get('/Patient/a/$everything?_type=Nothing'), 400, 'parameter-invalid', '_type');
      expectRefusal(await get('/Patient/a/$everything?_count=0'), 400, 'parameter-invalid', '_count');
      expectRefusal(await get('/Patient/a/$everything?start=x'), 400, 'parameter-invalid', 'start');
      expectRefusal(await get('/Patient/a/$everything?nonsense=1'), 400, 'parameter-unknown', '_since');
      const page = (await get('/Patient/a/$everything?_count=1')).json().link[1].url as string;
      const token = page.slice(page.indexOf('_page='));
      expectRefusal(await get(`/Patient/b/$everything?${token}`), 400, 'page-invalid');
      expectRefusal(await get(`/Patient/$everything?${token}`), 400, 'page-invalid');
      expectRefusal(await get(`/Patient/a/$everything?${token}&_count=3`), 400, 'parameter-invalid');
      expectRefusal(await get('/Patient/a/$everything?_page=forged'), 400, 'page-invalid');
    });

    it('shows a token what is within its scopes, and every page anew', async () => {
      const seen = async (scopes: string, path = '/Patient/a/$everything?_count=2') =>
        (await walk(path, server.as(scopes))).flat().sort();
      expect(await seen('system/Patient.r')).toEqual(['Patient/a']);
      expect(await seen('system/Patient.r system/Observation.s system/Device.r')).toEqual([
        ...['Device/d', 'Observation/o1', 'Observation/o2', 'Observation/o3', 'Patient/a'],
      ]);
      expect(await seen('system/Patient.r system/Observation.s?_tag=t')).toEqual(['Observation/o3', 'Patient/a']);
      expect(await seen('system/Patient.rs?_id=b', '/Patient/$everything')).toEqual(['Patient/b']);
      const refused = await get('/Patient/a/$everything', server.as('system/Observation.rs'));
      expect([refused.status, refused.headers['www-authenticate']]).toEqual([403, expect.stringContaining('system/Patient.r')]); // prettier-ignore
      expect((await get('/Patient/$everything', server.as('system/Patient.r'))).status).toBe(403);
      expectRefusal(await get('/Patient/a/$everything', server.as('system/Patient.r?_id=b')), 404, 'not-found');
      const url = (await get('/Patient/a/$everything?_count=1')).json().link[1].url as string;
      const next = await get(url.slice(url.indexOf('/fhir') + 5), server.as('system/Patient.r system/Condition.s'));
      expect(names(next)).toEqual(['Condition/c1']);
    });
  });

  it('Encounter: its compartment, its patient, and what these refer to', async () => {
    const found = names(await get('/Encounter/e1/$everything?_count=100'));
    expect(found.sort()).toEqual(['Encounter/e1', 'Observation/o1', 'Patient/a', 'Practitioner/dr']);
    expectRefusal(await get('/Encounter/none/$everything'), 404, 'not-found');
  });

  it('EpisodeOfCare: its encounters with their compartments', async () => {
    await put({ resourceType: 'EpisodeOfCare', id: 'ep', status: 'active', patient: { reference: 'Patient/a' } });
    await put({ resourceType: 'Encounter', id: 'e2', status: 'planned', ...patient('a'), episodeOfCare: [{ reference: 'EpisodeOfCare/ep' }] }); // prettier-ignore
    await put({ resourceType: 'Procedure', id: 'p', status: 'completed', ...patient('a'), encounter: { reference: 'Encounter/e2' } }); // prettier-ignore
    const found = names(await get('/EpisodeOfCare/ep/$everything?_count=100'));
    expect(found.sort()).toEqual(['Encounter/e2', 'EpisodeOfCare/ep', 'Patient/a', 'Procedure/p']);
    for (const each of ['Encounter/e2', 'EpisodeOfCare/ep', 'Procedure/p']) await server.all.send('DELETE', `/${each}`);
    expectRefusal(await get('/EpisodeOfCare/ep/$everything'), 410, 'deleted');
  });

  it('Group: its members with their records', async () => {
    const pages = await walk('/Group/g/$everything?_count=1');
    expect(pages.flat().sort()).toEqual(['Group/g', 'Observation/p1', 'Patient/b', 'Practitioner/dr']);
    const refused = await get('/Group/g/$everything', server.as('system/Group.r'));
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([403, expect.stringContaining('system/Patient.r')]); // prettier-ignore
    const hidden = await walk('/Group/g/$everything', server.as('system/Group.r system/Patient.r?_id=a'));
    expect(hidden.flat()).toEqual(['Group/g']);
  });

  it('MedicinalProductDefinition: what refers to it; of all as well', async () => {
    await put({ resourceType: 'MedicinalProductDefinition', id: 'm', name: [{ productName: 'x' }] });
    await put({ resourceType: 'Ingredient', id: 'i', status: 'active', for: [{ reference: 'MedicinalProductDefinition/m' }], role: code, substance: { code: { concept: code } } }); // prettier-ignore
    const found = ['Ingredient/i', 'MedicinalProductDefinition/m'];
    expect(names(await get('/MedicinalProductDefinition/m/$everything')).sort()).toEqual(found);
    expect(names(await get('/MedicinalProductDefinition/$everything')).sort()).toEqual(found);
  });

  it('a reference that names a version brings that version', async () => {
    await put({ resourceType: 'Patient', id: 'v', generalPractitioner: [{ reference: 'Practitioner/dr/_history/1' }] });
    const [, included] = entriesOf(await get('/Patient/v/$everything'));
    expect([nameOf(included!), included?.resource.meta.versionId]).toEqual(['Practitioner/dr', '1']);
  });

  it('leaves no defects', () => expect(server.defects).toEqual([]));
}
