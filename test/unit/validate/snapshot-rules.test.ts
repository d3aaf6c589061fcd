import { describe, expect, it } from 'vitest';

import { CORE, extension, profile, slice, snapshot, type Said } from './defined.js';

/** Why a profile of Observation with this differential cannot be used. */
function refusal(...said: Said[]): () => unknown {
  return () => snapshot(profile('wrong', 'Observation', said));
}

describe('a definition is refused', () => {
  it('with a fixed value or pattern of a type that the element has not', () => {
    expect(refusal({ path: 'value[x]', fixedUri: 'urn:a' })).toThrow(
      'http://x.org/wrong: Observation.value[x] has fixedUri; it is of type Quantity or CodeableConcept or',
    );
    expect(refusal({ path: 'code', patternCoding: { code: 'a' } })).toThrow(
      'Observation.code has patternCoding; it is of type CodeableConcept',
    );
    // One that is of the type, or of one that looks the same.
    expect(refusal({ path: 'code', patternCodeableConcept: { text: 'a' } })).not.toThrow();
    expect(refusal({ path: 'value[x]', patternQuantity: { unit: 'kg' } })).not.toThrow();
    expect(refusal({ path: 'status', fixedString: 'final' })).not.toThrow();
  });

  it('with a type that its base does not admit', () => {
    expect(refusal({ path: 'value[x]', type: [{ code: 'ContactPoint' }] })).toThrow(
      'Observation.value[x] is of type ContactPoint; its base admits Quantity, CodeableConcept,',
    );
    const of = { path: 'contained', type: [{ code: 'Patient' }] };
    expect(refusal(of), 'a type that specializes the one of the base').not.toThrow();
  });

  it('with a type that a profile between has taken away', () => {
    const base = profile('base', 'Observation', [{ path: 'value[x]', type: [{ code: 'string' }] }]);
    const wrong = profile('wrong', 'Observation', [{ path: 'value[x]', type: [{ code: 'Quantity' }] }], {
      baseDefinition: base.url,
    });
    expect(() => snapshot(wrong, base)).toThrow('is of type Quantity; its base admits string');
  });

  it('with slices of the whole', () => {
    expect(refusal({ path: '', slicing: { rules: 'open' } })).toThrow('http://x.org/wrong slices Observation itself');
  });

  it('where it need not support what its base has to support', () => {
    const base = profile('base', 'Observation', [{ path: 'value[x]', mustSupport: true }]);
    const wrong = profile('wrong', 'Observation', [{ path: 'value[x]', mustSupport: false }], {
      baseDefinition: base.url,
    });
    expect(() => snapshot(wrong, base)).toThrow('Observation.value[x] has mustSupport false');
  });

  it('that is made of itself', () => {
    const own = extension('own', []);
    const [root, ...rest] = own.differential?.element ?? [];
    const element = [{ ...root!, type: [{ code: 'Extension', profile: [own.url] }] }, ...rest];
    expect(() => snapshot({ ...own, differential: { element } })).toThrow('http://x.org/own says of Extension that it');
    const circle = extension('circle', [slice('inner', 'http://x.org/circle'), { path: 'extension.url', min: 1 }]);
    expect(() => snapshot(circle)).toThrow('is made of itself: http://x.org/circle, then http://x.org/circle');
    const a = profile('a', 'Patient', [], { baseDefinition: 'http://x.org/b' });
    const b = profile('b', 'Patient', [], { baseDefinition: 'http://x.org/a' });
    expect(() => snapshot(a, b)).toThrow('http://x.org/a, then http://x.org/b, then http://x.org/a');
    // Naming itself is no circle.
    expect(() => snapshot(extension('tree', [slice('inner', 'http://x.org/tree')]))).not.toThrow();
  });

  it('that unfolds into too many elements', () => {
    const all = Array.from({ length: 15 }, (_, n) =>
      extension(`e${n}`, [
        { path: 'extension', max: '2' },
        ...['a', 'b', 'c'].flatMap((name) => [
          slice(name, `http://x.org/e${n + 1}`),
          { path: 'extension.id', max: '0' },
        ]),
      ]),
    );
    expect(() => snapshot(...all)).toThrow('http://x.org/e0 needs more than 100,000 elements of other definitions');
  });
});

describe('a logical model, or another type (https://hl7.org/fhir/R5/structuredefinition.html#logical)', () => {
  const model = (id: string, base: string, said: readonly Said[]): ReturnType<typeof profile> =>
    profile(id, id, said, { kind: 'logical', derivation: 'specialization', baseDefinition: base });
  const string = [{ code: 'string' }];

  it('has its own elements after those of its base', () => {
    const parent = model('Parent', `${CORE}Element`, [
      { path: '' },
      { path: 'a', min: 0, max: '1', type: string },
      { path: 'group', min: 0, max: '*', type: [{ code: 'BackboneElement' }] },
      { path: 'group.b', min: 1, max: '1', type: string },
    ]);
    const child = model('Child', parent.url, [
      { path: '' },
      { path: 'a', min: 1 },
      { path: 'c', min: 0, max: '1', type: string },
    ]);
    const own = ['group.id', 'group.extension', 'group.modifierExtension', 'group.b'];
    const inherited = ['id', 'extension', 'a', 'group', ...own];
    expect([...snapshot(parent).keys()]).toEqual(['Parent', ...inherited.map((each) => `Parent.${each}`)]);
    expect([...snapshot(child, parent).keys()]).toEqual([
      'Child',
      ...[...inherited, 'c'].map((each) => `Child.${each}`),
    ]);
    expect(snapshot(child, parent).get('Child.a')).toMatchObject({ path: 'Child.a', min: 1, max: '1', type: string });
    expect(snapshot(model('Lone', `${CORE}Base`, [{ path: '' }])).size).toBe(1);
  });

  it('is named by its URL where it is a type', () => {
    const part = model('Part', `${CORE}Base`, [{ path: '' }, { path: 'x', min: 0, max: '1', type: string }]);
    const whole = model('Whole', `${CORE}Base`, [
      { path: '' },
      { path: 'part', min: 0, max: '1', type: [{ code: part.url }] },
      { path: 'part.x', min: 1 },
    ]);
    expect([...snapshot(whole, part).keys()]).toEqual(['Whole', 'Whole.part', 'Whole.part.x']);
  });

  it('may be constrained by a profile, which adds nothing', () => {
    const base = model('Model', `${CORE}Base`, [{ path: '' }, { path: 'a', min: 0, max: '1', type: string }]);
    const on = (path: string): ReturnType<typeof profile> =>
      profile('on', 'Model', [{ path, min: 1 }], { kind: 'logical', baseDefinition: base.url });
    expect(snapshot(on('a'), base).get('Model.a')?.min).toBe(1);
    expect(() => snapshot(on('b'), base)).toThrow('constrains Model.b, which Model has not');
  });
});
