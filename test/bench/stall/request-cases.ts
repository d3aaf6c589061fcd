import { form, get, many, send, type StallCase } from './stall-case.js';

const MB = 2 ** 20;

/** The longest form, in characters. */
const FORM = MB;

/** The longest URL, in characters. */
const URL_ROOM = 7900;

/** What headers have room for, in characters. */
const HEADER_ROOM = 50_000;

/** Headers, parameters and bodies of the greatest length that make work before anything is looked up. */
export const REQUEST_CASES: readonly StallCase[] = [
  {
    name: 'GET with as many parameters as a URL holds',
    requests: () => [get(`/Patient?${'a&'.repeat(URL_ROOM / 2)}`)],
    status: 400,
  },
  {
    name: 'a form of half a million parameters',
    requests: () => [form('/Patient/_search', 'a&'.repeat(FORM / 2))],
    status: 400,
  },
  {
    name: 'a form of one parameter, again and again',
    requests: () => [form('/Patient/_search', '_id=a&'.repeat(FORM / 6))],
    status: 400,
  },
  {
    name: 'a form of escapes',
    requests: () => [form('/Patient/_search', `name=${'%41'.repeat(FORM / 3 - 10)}`)],
    status: 200,
  },
  {
    name: 'a list of half a million values',
    requests: () => [form('/Patient/_search', `_id=${'a,'.repeat(FORM / 2 - 16)}`)],
    status: 400,
  },
  {
    name: 'a text search of half a million words',
    requests: () => [form('/Patient/_search', `_content=${'a '.repeat(FORM / 2 - 16)}`)],
    status: 400,
  },
  {
    name: 'a form that is too large',
    requests: () => [form('/Patient/_search', 'a'.repeat(FORM + 1))],
    status: 413,
  },
  {
    name: 'a form in an entry that is too large',
    requests: () => [
      send('POST', '/', {
        resourceType: 'Bundle',
        type: 'batch',
        entry: [
          {
            request: { method: 'POST', url: 'Patient/_search' },
            resource: {
              resourceType: 'Binary',
              contentType: 'application/x-www-form-urlencoded',
              data: Buffer.from('a&'.repeat(10 * MB)).toString('base64'),
            },
          },
        ],
      }),
    ],
    status: 200,
  },
  {
    name: '_filter in a million parentheses',
    requests: () => [form('/Patient/_search', `_filter=${'('.repeat(FORM - 16)}`)],
    status: 400,
  },
  {
    name: '_filter of many conditions',
    requests: () => [form('/Patient/_search', `_filter=${many(75_000, () => 'name eq a').join(' or ')}`)],
    status: 400,
  },
  ...[
    '_elements',
    '_sort',
    '_include',
    '_type',
    '_summary',
    '_total',
    '_format',
    '_security',
    '_has:x:y:z',
    '_graph',
  ].map((name): StallCase => ({
    name: `${name} of a quarter of a million names`,
    requests: () => [form('/Patient/_search', `${name}=${'nam,'.repeat(FORM / 4 - 32)}`)],
    status: name === '_format' ? 406 : 400,
  })),
  ...(
    [
      ['accept', (n) => 'a/b;q=0.1,'.repeat(n / 10), 406],
      ['prefer', (n) => 'a=b,'.repeat(n / 4), 200],
      ['accept-encoding', (n) => 'a;q=0.1,'.repeat(n / 8), 200],
      ['accept-language', (n) => 'de;q=0.1,'.repeat(n / 9), 200],
      ['if-none-match', (n) => 'W/"7",'.repeat(n / 6), 200],
      ['if-modified-since', (n) => 'Mon, '.repeat(n / 5), 200],
      ['x-forwarded-for', (n) => '::1,'.repeat(n / 4), 403],
      ['forwarded', (n) => 'for=a;'.repeat(n / 6), 403],
      ['cookie', (n) => 'a=b;'.repeat(n / 4), 200],
      ['x-request-id', (n) => 'a'.repeat(n), 200],
      ['authorization', (n) => `Bearer ${'a.'.repeat(n / 2)}`, 200],
      ['content-type', (n) => `application/fhir+json;${'a=b;'.repeat(n / 4)}`, 200],
    ] as [string, (n: number) => string, number][]
  ).map(([name, value, status]): StallCase => ({
    name: `the header ${name} at its limit`,
    requests: () => many(20, () => get('/Basic/small', { [name]: value(HEADER_ROOM) })),
    status,
  })),
  {
    name: 'If-None-Exist at its limit',
    requests: () => [
      send(
        'POST',
        '/Basic',
        { resourceType: 'Basic', code: { text: 'a' } },
        {
          'content-type': 'application/fhir+json',
          'if-none-exist': `_id=${'a,'.repeat(HEADER_ROOM / 2)}`,
        },
      ),
    ],
    status: 400,
  },
  ...(
    [
      ['brackets', '['],
      ['braces', '{"a":'],
    ] as const
  ).map(([name, piece]): StallCase => ({
    name: `JSON of nothing but ${name}`,
    requests: () => [send('POST', '/Basic', piece.repeat((45 * MB) / piece.length))],
    status: 400,
  })),
  {
    name: 'a JSON number of 40 million digits',
    requests: () => [send('POST', '/Basic', `{"resourceType":"Basic","a":${'1'.repeat(40 * MB)}}`)],
    status: 400,
  },
  {
    name: 'JSON of five million members',
    requests: () => [
      send('POST', '/Basic', `{"resourceType":"Basic",${many(2_500_000, (n) => `"a${n}":1`).join(',')}}`),
    ],
    status: 400,
  },
  {
    name: 'JSON of 20 million numbers',
    requests: () => [send('POST', '/Basic', `{"resourceType":"Basic","a":[${'1,'.repeat(20 * MB)}1]}`)],
    status: 400,
  },
  ...(
    [
      ['elements in each other', '<a>', ''],
      ['attributes', ' a=""', '<Basic xmlns="http://hl7.org/fhir"'],
      ['different attributes', '', '<Basic xmlns="http://hl7.org/fhir"'],
      ['namespaces', '', '<Basic xmlns="http://hl7.org/fhir"'],
      ['empty elements', '<a/>', '<Basic xmlns="http://hl7.org/fhir">'],
      ['comments', '<!---->', '<Basic xmlns="http://hl7.org/fhir">'],
      ['instructions', '<?a?>', '<Basic xmlns="http://hl7.org/fhir">'],
      ['characters by number', '&#65;', '<Basic xmlns="http://hl7.org/fhir"><language value="'],
    ] as const
  ).map(([name, piece, before]): StallCase => ({
    name: `XML of nothing but ${name}`,
    requests: () => [
      send(
        'POST',
        '/Basic',
        before +
          (piece === ''
            ? many(1_000_000, (n) => (name === 'namespaces' ? ` xmlns:a${n}="u:${n}"` : ` a${n}=""`)).join('')
            : piece.repeat((10 * MB) / piece.length)),
        { 'content-type': 'application/fhir+xml' },
      ),
    ],
    status: 400,
  })),
];
