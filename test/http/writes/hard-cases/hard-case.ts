/** A body, and whether it is right. */
export interface HardCase {
  readonly name: string;
  /** Text as it is sent; an object goes as JSON. */
  readonly body: string | object;
  readonly isXml?: true;
  /** Absent: that of the body. */
  readonly type?: string;
  /** What `$validate` says: whether there is no error. */
  readonly isValid: boolean;
  /** Whether a create succeeds; absent: as `$validate` says. */
  readonly isCreated?: boolean;
}

/** A body that is right. */
export const right = (name: string, body: string | object, more: Partial<HardCase> = {}): HardCase => ({
  ...{ name, body, isValid: true },
  ...more,
});

/** A body that is refused. */
export const wrong = (name: string, body: string | object, more: Partial<HardCase> = {}): HardCase => ({
  ...{ name, body, isValid: false },
  ...more,
});

/** A Patient with these elements. */
export const patient = (more: object): object => ({ resourceType: 'Patient', ...more });

/** An Observation with these elements. */
export const observation = (more: object): object => ({
  ...{ resourceType: 'Observation', status: 'final', code: { text: 'x' } },
  ...more,
});

/** A Patient in JSON with this text between the braces. */
export const text = (members: string): string => `{"resourceType":"Patient",${members}}`;

/** A Patient in XML with this content. */
export const xml = (content: string, attributes = 'xmlns="http://hl7.org/fhir"'): string =>
  `<Patient ${attributes}>${content}</Patient>`;
