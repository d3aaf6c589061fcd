import { compartments, levels, paths, under, urls, type ErratumCase } from './facts/errata-questions.js';

const core = 'hl7.fhir.r4b.core';
const CHROMOSOME = 'MolecularSequence-chromosome-variant-coordinate';
const REFERENCE_SEQUENCE = 'MolecularSequence-referenceseqid-variant-coordinate';
const parameter = (id: string): string => `http://hl7.org/fhir/SearchParameter/${id}`;

/** Errata of R4B. */
export const errataCasesR4B: readonly ErratumCase[] = [
  ...under(core, 'SearchParameter', [
    [
      CHROMOSOME,
      undefined,
      'where is MolecularSequence?chromosome-variant-coordinate',
      paths('MolecularSequence', 'chromosome-variant-coordinate'),
      `${parameter(CHROMOSOME)}: MolecularSequence.variant: %resource.referenceSeq.chromosome: variable is no path`,
      [],
    ],
    [
      REFERENCE_SEQUENCE,
      undefined,
      'where is MolecularSequence?referenceseqid-variant-coordinate',
      paths('MolecularSequence', 'referenceseqid-variant-coordinate'),
      `${parameter(REFERENCE_SEQUENCE)}: MolecularSequence.variant: %resource.referenceSeq.referenceSeqId: variable is no path`,
      [],
    ],
    [
      'Observation-code-value-date',
      '/component/1/expression',
      'where is the date of Observation?code-value-date',
      (made) => made.parameters('Observation', 'code-value-date')[0]?.components?.[1]?.paths.map(({ text }) => text),
      `${parameter('Observation-code-value-date')}: Observation: value.as(DateTime): DateTime is a type of FHIRPath`,
      ['value.as(dateTime)', 'value.as(Period)'],
    ],
    [
      'example',
      undefined,
      'what is Resource?_id',
      urls('Resource', '_id'),
      ['Resource-id', 'example'],
      ['Resource-id'],
    ],
    [
      'example-extension',
      undefined,
      'does Patient have a parameter that only the documentation knows',
      urls('Patient', 'part-agree'),
      ['example-extension'],
      [],
    ],
    [
      'example-reference',
      undefined,
      'what is Condition?subject',
      urls('Condition', 'subject'),
      ['Condition-subject', 'example-reference'],
      ['Condition-subject'],
    ],
    [
      'filter',
      undefined,
      'what is Resource?_filter',
      urls('Resource', '_filter'),
      ['Resource-filter', 'filter'],
      ['Resource-filter'],
    ],
  ]),
  // The url is published with this typing error.
  ...under(core, 'OperationDefinition', [
    [
      'example',
      undefined,
      'is there an operation that only the documentation knows',
      levels('example'),
      ['instance'],
      undefined,
    ],
  ]).map((each) => ({ ...each, target: 'http://h7.org/fhir/OperationDefinition/example' })),
  ...under(core, 'CompartmentDefinition', [
    [
      'example',
      undefined,
      'what is the compartment of a Device',
      compartments('Device'),
      [
        ['device', 32],
        ['example', 2],
      ],
      [['device', 32]],
    ],
  ]),
  ...under(core, 'StructureDefinition', [
    [
      'Reference',
      '/snapshot/element/0/constraint/1/expression',
      'does ref-1 of a Reference ask for a reference first',
      (made) => made.expressions('Reference', 'ref-1').map((each) => each.startsWith('reference.exists() implies')),
      [false],
      [true],
    ],
  ]),
];
