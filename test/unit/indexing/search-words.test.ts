import Database from 'better-sqlite3';
import { describe, expect, it, vi } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { parsedIndexEntries } from '../../../runtime/core/write/parsed-entries.js';
import type { IndexEntry } from '../../../runtime/indexing/entry.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import { describeIndex, staleNames } from '../../../runtime/indexing/index-record.js';
import { searchDefinitions } from '../../../runtime/indexing/definitions.js';
import { usedBy } from '../../../runtime/search/parse/used-by.js';
import { TEXT_BOUNDS } from '../../../runtime/indexing/text/extract-text.js';
import { append, MOST_TEXT, toLine } from '../../../runtime/indexing/text/line.js';
import { blocksOf } from '../../../runtime/indexing/text/narrative.js';
import { checkLength, DEEPEST, readBeginning, readWords } from '../../../runtime/search/text/parse-words.js';
import { wordsOf } from '../../../runtime/indexing/text/segment.js';
import { toMatch } from '../../../runtime/store/sqlite/write/words.js';
import { processorTime } from '../../processor-time.js';

describe('words', () => {
  it.each([
    ['Acute  Headache, (left)', ['acute', 'headache', 'left']],
    ['Ágatha Müller-Lüdenscheidt', ['agatha', 'muller', 'ludenscheidt']],
    ["don't don’t O'Neil", ['dont', 'dont', 'oneil']],
    ['BP:high 3.5 1,000 8302-2', ['bp', 'high', '3.5', '1,000', '8302', '2']],
    ['a_b e.g. _ --', ['a_b', 'e.g']],
    ['東京に', ['東京', 'に']],
    ['x'.repeat(41), ['x'.repeat(40)]],
    [
      'hyper\u00adtension \ufeffa\u200eb می\u200cخواهم क\u094dष ไป\u200bมา',
      ['hypertension', 'ab', 'میخواهم', 'कष', 'ไป', 'มา'],
    ],
    ['\u00ad', []],
    ['', []],
  ])('of %j', (text, words) => {
    expect(wordsOf(text)).toEqual(words);
    expect(toLine(text)).toBe(words.length === 0 ? '' : `\n ${words.join(' ')} `);
  });

  it.each([
    ['Thai', 'ได้รับการผ่าตัดหัวใจเมื่อปีที่แล้ว', 'ผ่าตัด'],
    ['Thai', 'เขาเป็นโรคเบาหวานชนิดที่ 2: café', 'เบาหวาน'],
    ['Lao', 'ຂ້ອຍໄປໂຮງໝໍ', 'ໂຮງໝໍ'],
    ['Khmer', 'ខ្ញុំទៅមន្ទីរពេទ្យ', 'មន្ទីរពេទ្យ'],
    ['Burmese', 'ကျွန်တော်ဆေးရုံသွားတယ်', 'ဆေးရုံ'],
    ['Chinese', '他昨天去医院看病', '医院'],
    ['Japanese', '病院で手術を受けました', '手術'],
  ])('of %s are in their sentence what they are alone', (_script, sentence, word) => {
    expect(toLine(sentence)).toContain(` ${wordsOf(word).join(' ')} `);
    expect(wordsOf(word)).not.toEqual([]);
  });

  it('are kept up to a bound, whole ones', () => {
    const line = toLine('abc '.repeat(MOST_TEXT));
    const text = append('', line);
    expect(text.length).toBeLessThanOrEqual(MOST_TEXT);
    expect(text.length).toBeGreaterThan(MOST_TEXT - 10);
    expect(text.endsWith(' abc ')).toBe(true);
    expect(append(text, toLine('more'))).toBe(text);
  });
});

describe('a narrative', () => {
  it.each([
    ['<div><p>one <b>T</b>wo</p>three<br/>four</div>', ['one Two', 'three', 'four']],
    ['<div>a<!-- <p>no</p> -->b &amp; &lt;c&gt; &#xE9;&#233;</div>', ['ab & <c> éé']],
    ['<div title="a > b">x</div>', ['x']],
    ['<td>blood</td><td>pressure</td>', ['blood', 'pressure']],
    ['a < b', ['a   b']],
    ['a<!-- never', ['a']],
    ['&#1114112; &nope; &AMP;', ['  &nope; &AMP;']],
    ['<p>caf&eacute;&nbsp;&Eacute;t&eacute;&ndash;&Sigma;&hearts;</p>', ['café\u00a0Été–Σ♥']],
    ['a<script>no < "</div>no</script>b<STYLE type="x">no</Style>c<script src="x"/>d', ['a', 'b', 'c', 'd']],
    ['a<style>never', ['a']],
  ])('%s', (xhtml, blocks) => {
    expect(blocksOf(xhtml)).toEqual(blocks);
  });

  it('takes time by its length only', () => {
    const took = processorTime();
    for (const piece of ['<a', '<!-', '<a "', '&#', '<a b="', '<style>', '<style></script', '&eacute'])
      blocksOf(piece.repeat(200_000));
    expect(took()).toBeLessThan(5000);
  });
});

describe('the segmenter', () => {
  const extract = createExtractor(tables);
  /** How many units it is given. */
  const given = (work: () => void): number => {
    const spy = vi.spyOn(Intl.Segmenter.prototype, 'segment');
    work();
    const units = spy.mock.calls.reduce((sum, [text]) => sum + text.length, 0);
    spy.mockRestore();
    return units;
  };
  const chinese = '患者昨天去医院看病'.repeat(20_000);

  it('is given a bounded part of a resource, and what needs none is found behind it', () => {
    const condition = {
      resourceType: 'Condition',
      note: [{ text: chinese }, { text: '高血压' }, { text: 'behind Сзади' }],
      code: { text: `a${chinese}`, coding: [{ display: `b${chinese}` }, { display: '高血压 c' }] },
    };
    let entries: readonly IndexEntry[] = [];
    const { content, beside } = TEXT_BOUNDS.body;
    const bound = content.segmented + beside.segmented;
    const units = given(() => (entries = extract(condition)));
    expect(units).toBeGreaterThan(0.9 * bound);
    expect(units).toBeLessThanOrEqual(bound);
    const textOf = (param: string): string => entries.map((each) => (each.kind === 'words' && each.param === param ? each.text : '')).join(''); // prettier-ignore
    expect(textOf('_content')).toMatch(/ 昨天 去 医院 [^]*\n behind сзади /);
    expect(textOf('code')).toMatch(/ 昨天 去 医院 [^]*\n c $/);
    expect(textOf('code')).not.toContain('血压');
  });

  it('is given no text twice, and as much for a parameter alone', () => {
    const code = { text: '高血压', coding: [{ display: '高血压' }] };
    const condition = { resourceType: 'Condition', code, bodySite: [code] };
    expect(given(() => extract(condition))).toBe(3);
    expect(given(() => extract(condition, { allButWordsOf: new Set(['code']) }))).toBe(3);
  });

  it.each(['Пациент, (жалобы)', 'ασθενής.', 'مريض، صداع', 'חולה', 'रोगी।', '환자는 두통을', 'հիվանդ', 'ავადმყოფი'])(
    'is given no words of letters: %s',
    (text) => {
      expect(given(() => wordsOf(text))).toBe(0);
    },
  );
});

describe('what is asked', () => {
  const phrase = (...words: string[]) => ({ phrase: words });
  it.each([
    ['bone', phrase('bone')],
    ['"Bone scan"', phrase('bone', 'scan')],
    ['a b', { all: [phrase('a'), phrase('b')], none: [] }],
    ['a or b c', { some: [phrase('a'), { all: [phrase('b'), phrase('c')], none: [] }] }],
    ['(a OR b) and c', { all: [{ some: [phrase('a'), phrase('b')] }, phrase('c')], none: [] }],
    ['a AND NOT b', { all: [phrase('a')], none: [phrase('b')] }],
    ['NOT b a', { all: [phrase('a')], none: [phrase('b')] }],
    ['"and"', phrase('and')],
    ['8302-2', phrase('8302', '2')],
  ])('%s', (text, test) => expect(readWords(text)).toEqual(test));

  it('a beginning', () => expect(readBeginning('"Head" an')).toEqual({ begins: ['head', 'an'] }));
  it('a bounded number of words', () => {
    expect(() => readWords('x '.repeat(1000))).toThrow('has 1000 words, and may have 50');
    expect(() => readBeginning('x '.repeat(51))).toThrow('has 51 words');
  });
  it('all alternatives together too', () => {
    expect(() => checkLength('x,'.repeat(40_001), 1000)).toThrow('has 80002 characters, and may have 80000');
    expect(checkLength('x,'.repeat(40_000), 1000)).toBeUndefined();
  });
  it.each([readWords, readBeginning])('and of characters, before it is divided into words', (read) => {
    const took = processorTime();
    expect(() => read('病'.repeat(1_000_000))).toThrow('has 1000000 characters, and may have 4000, for 50 words');
    expect(took()).toBeLessThan(100);
  });
});

describe('what SQLite is asked', () => {
  const db = new Database(':memory:');
  db.exec('CREATE VIRTUAL TABLE words USING fts5(text)');
  const nested = (shape: (inner: string) => string): string => {
    let text = 'z';
    for (let depth = 0; depth < DEEPEST; depth++) text = shape(text);
    return text;
  };

  it.each([
    ['not', nested((inner) => `a OR b NOT c NOT (${inner})`)],
    ['and', nested((inner) => `a OR b AND (${inner})`)],
    ['not alone', nested((inner) => `a NOT (${inner})`)],
  ])('can be asked, as deep as parentheses go: %s', (_name, text) => {
    const test = { some: [readWords('y'), readWords(text), readWords(text)] };
    expect(db.prepare('SELECT * FROM words WHERE text MATCH ?').all(toMatch([3000, 3001], test))).toEqual([]);
    expect(() => readWords(`(${nested((inner) => `x (${inner})`)})`)).toThrow(`more than ${DEEPEST} parentheses`);
  });
});

describe('the content', () => {
  const content = (resource: object): string | undefined =>
    createExtractor(tables)(resource as never).flatMap((entry) =>
      entry.kind === 'words' && entry.param === '_content' ? [entry.text] : [],
    )[0];

  it('has all of the narrative, however much else there is', () => {
    const div = '<div xmlns="http://www.w3.org/1999/xhtml">at the end</div>';
    const note = [{ text: 'long '.repeat(MOST_TEXT / 5) }];
    const text = { status: 'generated', div };
    expect(content({ resourceType: 'Observation', note, text })).toMatch(/^\n at the end /);
  });

  it('is what people read: no codes, ids, dates, URLs and references', () => {
    const observation = {
      resourceType: 'Observation',
      id: 'idx',
      status: 'final',
      code: { id: 'ide', coding: [{ system: 'urn:x', code: 'codex', display: 'Weight' }] },
      subject: { reference: 'Patient/refx', display: 'Ann' },
      effectiveDateTime: '2024-01-01',
      valueQuantity: { value: 1, unit: 'kg' },
      component: [{ valueSampledData: { origin: { value: 1, unit: 'mV' }, offsets: '1 2', data: '2041 2043 E' } }],
      note: [{ text: 'a **note**' }],
      _status: { extension: [{ url: 'urn:x', valueString: 'beside' }] },
      contained: [{ resourceType: 'Patient', name: [{ family: 'Within' }] }],
      unknown: 'nothing',
    };
    expect(content(observation)?.trim().split(/\s+/)).toEqual([
      'weight',
      'ann',
      'kg',
      'mv',
      'a',
      'note',
      'beside',
      'within',
    ]);
  });

  it('has a bounded number of different words, and of one that is full nothing more', () => {
    const words = (from: number, count: number): string => Array.from({ length: count }, (_, i) => `w${from + i}`).join(' '); // prettier-ignore
    const { words: most } = TEXT_BOUNDS.body.content;
    const note = [{ text: words(0, most - 2) }, { text: 'w1 last\u00e9 lastf lastg w2' }, { text: 'w3 w3' }];
    const text = content({ resourceType: 'Observation', note, method: { text: 'w4 w5' } });
    expect(text?.endsWith(`w${most - 3} \n w1 laste lastf `)).toBe(true);
    const few = content({ resourceType: 'Observation', note: [{ text: 'a b '.repeat(most) }, { text: words(0, 9) }] });
    expect(few?.endsWith('w7 w8 ')).toBe(true);
  });

  it.each([
    { text: 5 },
    { text: null },
    { text: [] },
    { text: { div: {} } },
    { contained: [[[]], null, { resourceType: 'x' }] },
    { name: 'x' },
  ])('of what is no resource is none: %j', (more) =>
    expect(content({ resourceType: 'Patient', ...more })).toBeUndefined(),
  );
});

describe('the record of the index', () => {
  const maker = describeIndex(tables.search, 'UTC');
  const before = { whole: 'x', rows: Object.fromEntries(Object.entries(maker.record().rows).map(([name, hash]) => [name, /\._(?:text|content)$|section-text$/.test(name) ? 'old' : hash])) }; // prettier-ignore

  it('says of a store from before that its words are not there', () => {
    expect(staleNames(before, maker).sort()).toEqual([
      'Composition.section-text',
      'DomainResource._text',
      'Resource._content',
      'Resource._text',
    ]);
  });

  it('of searches for words in a code too', () => {
    const used = usedBy('Condition', { param: 'code', words: { phrase: ['x'] } }, searchDefinitions(tables));
    expect(used.map(({ code }) => code)).toEqual(['code', '_content']);
  });
});

describe('the words of a resource', () => {
  const extract = createExtractor(tables);
  /** Different words, each with its parameter. */
  const pairs = (entries: readonly IndexEntry[]): number =>
    entries.reduce((sum, each) => sum + (each.kind === 'words' && each.param !== '_text' ? new Set(each.text.trim().split(/\s+/)).size : 0), 0); // prettier-ignore
  const many = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${prefix}${i}`);
  const codes = (prefix: string): object => ({ coding: many(prefix, 5000).map((display) => ({ display })) });
  const large = {
    resourceType: 'Observation',
    id: 'x',
    meta: { tag: many('t', 5000).map((display) => ({ display })), security: [{ display: 'behind' }] },
    text: {
      status: 'generated',
      div: `<div xmlns="http://www.w3.org/1999/xhtml">${many('n', 30_000).join(' ')}</div>`,
    },
    category: [codes('a')],
    code: codes('c'),
    method: codes('m'),
  };

  it('are bounded over all its parameters', () => {
    const entries = extract(large);
    // Nothing is stored here.
    expect(pairs(entries)).toBe(18_900);
    const textOf = (param: string): string => entries.map((each) => (each.kind === 'words' && each.param === param ? each.text : '')).join(''); // prettier-ignore
    // Those of the narrative are among those of the content.
    expect(textOf('_content').startsWith(textOf('_text'))).toBe(true);
    expect(textOf('_text').length).toBeGreaterThan(50_000);
  });

  it('are the same where they are read in two parts', () => {
    const { id: _id, meta: _meta, ...rest } = large;
    const content = { members: '', entries: extract(rest), entryBytes: 0, contained: [], isCut: false };
    const sorted = (entries: readonly IndexEntry[]): string[] => entries.map((each) => JSON.stringify(each)).sort();
    expect(sorted(parsedIndexEntries(large as never, content, extract))).toEqual(sorted(extract(large)));
  });

  it.each(['_content', '_text', 'code', 'category'])('are the same where only some are wanted: %s', (param) => {
    const words = extract(large).filter((each) => each.kind === 'words' && each.param === param);
    expect(words).toHaveLength(1);
    expect(extract(large, { allButWordsOf: new Set([param]) })).toEqual(words);
  });
});

it('words are left out where nobody wants them', () => {
  const extract = createExtractor(tables);
  const patient = { resourceType: 'Patient', id: 'p', active: true, name: [{ family: 'Lovelace' }] };
  const all = extract(patient);
  const others = all.filter(({ kind }) => kind !== 'words');
  expect(others.length).toBeLessThan(all.length);
  expect(extract(patient, 'words')).toEqual(others);
});
