import { beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { idsOf, putAll, refusalOf, useWholeServer } from '../search-server.js';

const div = (text: string): object => ({
  status: 'generated',
  div: `<div xmlns="http://www.w3.org/1999/xhtml">${text}</div>`,
});
const condition = (id: string, text: string, display: string, narrative: string) => ({
  resourceType: 'Condition',
  id,
  text: div(narrative),
  clinicalStatus: { coding: [{ code: 'active' }] },
  code: { text, coding: [{ system: 'http://snomed.info/sct', code: id, display }] },
  subject: { reference: 'Patient/p', display: 'Peter Chalmers' },
});

const DATA = [
  { resourceType: 'Patient', id: 'p', name: [{ family: 'Chalmers' }], text: div('<p>Peter <b>C</b>halmers</p>') },
  condition('a', 'Headache', 'Headache finding', '<p>Bone metastases</p><p>of the liver &amp; lung</p>'),
  condition('b', 'Acute headache', 'Pain in head', '<table><tr><td>liver</td><td>metastases</td></tr></table>'),
  condition('c', 'Migraine', 'Head pain', '<p>bone</p>'),
  {
    ...condition('d', 'Other', 'Other', 'nothing'),
    note: [{ text: 'Liver, as in **bone**: metastases.' }],
    contained: [{ resourceType: 'Medication', id: 'm', code: { text: 'Ibuprofen' } }],
    extension: [{ url: 'http://x', valueString: 'Zusätzlich' }],
  },
  ...Object.entries({
    across: ['blood pressure', 'systolic reading'],
    own: ['blood systolic'],
    blood: ['blood', 'pulse'],
  }).map(([id, [text, ofComponent]]) => ({
    ...{ resourceType: 'Observation', id, status: 'final', code: { text } },
    ...(ofComponent !== undefined && { component: [{ code: { text: ofComponent }, valueString: 'x' }] }),
  })),
  {
    resourceType: 'Composition',
    id: 'doc',
    status: 'final',
    type: { text: 'Summary' },
    date: '2024',
    author: [{ display: 'Dr Who' }],
    title: 'Discharge',
    section: [{ text: div('allergies: none'), section: [{ text: div('<i>Penicillin</i>') }] }],
  },
];

/** Full text over HTTP: the specification's examples, and what is refused. https://hl7.org/fhir/R5/search.html#_content */
export function wordSearches(store: Store): void {
  const server = useWholeServer({ store });
  const get = (path: string) => server.send('GET', path);
  beforeAll(() => putAll(server, DATA));

  it.each([
    ['_text=(bone OR liver) and metastases', 'a,b'],
    ['_text=bone', 'a,c'],
    ['_text=BONE,lung', 'a,c'],
    ['_text="bone metastases"', 'a'],
    ['_text="metastases of"', ''],
    ['_text=metastases NOT bone', 'b'],
    ['_text=headache', ''],
    ['_content=headache', 'a,b'],
    ['_content=(bone OR liver) and metastases', 'a,b,d'],
    ['_content="as in bone"', 'd'],
    ['_content=ibuprofen', 'd'],
    ['_content=zusatzlich', 'd'],
    ['_content=active', ''],
    ['_content=Patient', ''],
    ['code:text=headache', 'a'],
    ['code:text=HEAD', 'a,c'],
    ['code:text=acute head,migr', 'b,c'],
    ['code:text-advanced=head', 'b,c'],
    ['code:text-advanced=head and pain NOT "pain in"', 'c'],
    ['subject:text=peter', 'a,b,c,d'],
    ['subject:text-advanced=chalmers', 'a,b,c,d'],
    ['subject:Patient._text=chalmers&_text=bone', 'a,c'],
    ['subject._content=chalmers&code:text=migraine', 'c'],
    ['_text=bone&_content=migraine', 'c'],
    ['_text=bone&_sort=-_id', 'c,a'],
  ])('Condition?%s', async (search, ids) => {
    const answer = await get(`/Condition?${search.replace(/[ "]/g, encodeURIComponent)}`);
    expect(answer.status, answer.text).toBe(200);
    expect((search.includes('_sort') ? idsOf(answer) : idsOf(answer).sort()).join()).toBe(ids);
    expect(answer.json().total).toBe(ids === '' ? 0 : ids.split(',').length);
  });

  it.each([
    ['/Composition?section-text=penicillin', 'doc'],
    // Of a union one word may be in one member, the other in another.
    ['/Observation?combo-code:text-advanced=blood and systolic', 'across,own'],
    ['/Observation?combo-code:text-advanced=blood not systolic', 'blood'],
    ['/Observation?combo-code:text-advanced="blood pressure" not reading', ''],
    ['/Observation?combo-code:text=pulse,blood s', 'blood,own'],
    // Its values are those of the name.
    ['/Patient?phonetic=chalm&_sort=-phonetic', 'p'],
    ['/Patient?phonetic:exact=chalmers', ''],
    ['/Composition?section-text=none NOT penicillin', ''],
    ['/Composition?_text=penicillin', ''],
    ['/Patient?_has:Condition:subject:code:text=migraine', 'p'],
    ['/?_type=Patient,Condition&_content=chalmers', 'a,b,c,d,p'],
    ['/?_type=Patient,Condition&_text=chalmers', 'p'],
  ])('%s', async (path, ids) => {
    expect(idsOf(await get(path.replaceAll(' ', '%20'))).sort().join()).toBe(ids); // prettier-ignore
  });

  it('goes on over pages', async () => {
    const first = await get('/Condition?_content=chalmers&_count=3');
    const next: string = first.json().link.find(({ relation }: { relation: string }) => relation === 'next').url;
    const second = await get(next.slice(next.indexOf('/Condition')));
    expect([...idsOf(first), ...idsOf(second)].sort().join()).toBe('a,b,c,d');
  });

  it('_score tells how well each match answers, the same on each page', async () => {
    const scored = async (query: string) => {
      const answer = await get(`/Condition?${query}`);
      expect(answer.status, answer.text).toBe(200);
      const entries = answer.json().entry as { resource: { id: string }; search: { mode: string; score?: number } }[];
      return new Map(entries.filter(({ search }) => search.mode === 'match').map(({ resource, search }) => [resource.id, search.score])); // prettier-ignore
    };
    const all = await scored('_content=headache&_score=true');
    // Twice in the one, once in the other, of about as many words.
    expect(all.get('a')).toBeGreaterThan(all.get('b')!);
    for (const score of all.values()) expect(score! > 0 && score! < 1).toBe(true);
    expect(await scored('_content=headache&_score=true&_count=1')).toEqual(new Map([['a', all.get('a')]]));
    // What need not be there takes part with nothing, what must not be there not at all.
    expect((await scored('_text=metastases NOT bone&_score=true'.replaceAll(' ', '%20'))).get('b')).toBe(
      (await scored('_text=metastases&_score=true')).get('b'),
    );
    expect((await scored('_text=metastases%20OR%20nothere&_score=true')).get('b')).toBeLessThan(
      (await scored('_text=metastases&_score=true')).get('b')!,
    );
    expect([...(await scored('_content=headache&_score=false')).values()]).toEqual([undefined, undefined]);
    const told =
      '400 parameter-invalid _score is of words of what is searched: it goes with _text, _content, section-text, :text and :text-advanced, not behind a chain';
    expect(refusalOf(await get('/Condition?_score=true'))).toBe(told);
    expect(refusalOf(await get('/Condition?_content=headache&_score=high'))).toContain('_score is true or false');
    const lenient = await server.send('GET', '/Condition?_score=true', undefined, { prefer: 'handling=lenient' });
    expect(lenient.json().link[0].url).not.toContain('_score');
  });

  describe('is refused', () => {
    it.each([
      ['/Condition?_text="bone', 'quotation mark without another'],
      ['/Condition?_text=NOT bone', 'has nothing but NOT'],
      ['/Condition?_text=bone OR NOT liver', 'has nothing but NOT'],
      ['/Condition?_text=(bone', 'has a ( without a )'],
      ['/Condition?_text=bone)', 'has a ) without a ('],
      ['/Condition?_text=bone AND', 'lacks a word at the end'],
      ['/Condition?_text=OR bone', 'lacks a word before OR'],
      ['/Condition?_text=()', 'lacks a word before )'],
      ['/Condition?_text=---', 'has nothing to look for'],
      ['/Condition?code:text=---', 'has nothing to look for'],
      ['/Condition?_text:exact=bone', 'not :exact'],
      ['/Condition?_text:missing=true', 'not :missing'],
      ['/Condition?onset-info:text=x', 'words are found by _text and _content'],
      ['/Condition?_sort=_text', '_sort cannot go by "_text"'],
      ['/Condition?_sort=_score', '_sort cannot go by "_score"'],
      ['/Condition?_filter=_text co "x"', 'is a parameter by itself'],
      ['/Bundle?_filter=_text co "x"', 'is a parameter by itself'],
      [`/Condition?_content=${'x '.repeat(51)}`, 'has 51 words, and may have 50'],
      [`/Condition?_content=x${'-'.repeat(4000)}`, 'has 4001 characters, and may have 4000, for 50 words'],
      [`/Condition?_content=${'('.repeat(9)}x${')'.repeat(9)}`, 'more than 8 parentheses'],
    ])('%s: %s', async (path, text) => {
      const answer = refusalOf(await get(path.replace(/[ "]/g, encodeURIComponent)));
      expect(answer).toMatch(/^400 /);
      expect(answer).toContain(text);
    });
  });

  it.each([
    '"',
    '" OR 1=1',
    'x" *',
    '{a}:x',
    '-x',
    'x^2',
    'NEAR(a b)',
    'text : bone',
    "'; DROP TABLE words; --",
    '$where',
    '日本',
    '\u0000x',
    '%',
    'a'.repeat(5000),
  ])('nothing of %j is more than a word', async (text) => {
    const answer = await get(`/Condition?_content=${encodeURIComponent(text)}`);
    expect([200, 400]).toContain(answer.status);
    if (answer.status === 200) expect(idsOf(answer)).toEqual([]);
  });

  it('what was replaced or deleted is found by its words no more', async () => {
    await server.send('PUT', '/Condition/e', condition('e', 'Gout', 'Gout', 'podagra'));
    expect(idsOf(await get('/Condition?_content=podagra'))).toEqual(['e']);
    await server.send('PUT', '/Condition/e', condition('e', 'Gout', 'Gout', 'toe'));
    expect(idsOf(await get('/Condition?_content=podagra'))).toEqual([]);
    expect(idsOf(await get('/Condition?code:text=gout&_text=toe'))).toEqual(['e']);
    await server.send('DELETE', '/Condition/e');
    expect(idsOf(await get('/Condition?_content=toe'))).toEqual([]);
  });

  it('is a criterion of conditional creates', async () => {
    const headers = { 'if-none-exist': 'code:text=migraine&subject=Patient/p' };
    const made = await server.send('POST', '/Condition', condition('x', 'Migraine', 'x', 'x'), headers);
    expect(made.status).toBe(200);
  });
}
