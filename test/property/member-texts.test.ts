import { array, assert, constantFrom, dictionary, jsonValue, property } from 'fast-check';
import { expect, it } from 'vitest';

import { memberTexts } from '../../runtime/auth/audit/member-texts.js';

const NAMES = ['subject', 'a', '', 'two words', 'quo"te', '{', 'é', '__proto__'];
const objects = dictionary(constantFrom(...NAMES), jsonValue(), { noNullPrototype: true });
const wanted = array(constantFrom(...NAMES), { maxLength: 3 });

it('texts of members are those that the values have, or it is not said which', () => {
  assert(
    property(objects, wanted, (object, names) => {
      const found = memberTexts(JSON.stringify(object), names);
      const expected = Object.entries(object).filter(([name]) => names.includes(name));
      const isPlain = Object.keys(object).length > 0 && !Object.keys(object).includes('quo"te');
      expect(found).toEqual(isPlain ? expected.map(([, value]) => JSON.stringify(value)) : undefined);
    }),
  );
});

it.each(['{ "a":1}', '{"a" :1}', '[1]', '"a"', '{"a":1', '{"a":"b', '{"a":1}}', '{"\\u0061":1}', '', '{}'])(
  'what is no object in the way of this server is left to the parser: %s',
  (text) => expect(memberTexts(text, ['a'])).toBeUndefined(),
);
