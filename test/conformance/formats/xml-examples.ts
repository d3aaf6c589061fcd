import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { XmlDocument, XsdValidator } from 'libxml2-wasm';
import { xmlRegisterFsInputProviders } from 'libxml2-wasm/lib/nodejs.mjs';

import { tables } from '../../../generated/tables.js';
import { equalJson } from '../../../runtime/fhir/equal.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { readJson } from '../../../runtime/format/read-json.js';
import { writeJson } from '../../../runtime/format/write-json.js';
import { readXml } from '../../../runtime/format/xml/read-xml.js';
import { writeXml } from '../../../runtime/format/xml/write-xml.js';
import { exampleFiles, readExample } from './examples.js';

const core = dirname(createRequire(import.meta.url).resolve('hl7.fhir.r5.core/package.json'));

/** Names of the official examples that core does not hold. */
export function examplesBesideCore(): string[] {
  const held = new Set(readdirSync(core));
  return exampleFiles().filter((file) => !held.has(file));
}

/** The XML schema of FHIR, which core brings along: it judges our XML independently of our tables. */
export function openSchema(): XsdValidator {
  xmlRegisterFsInputProviders();
  const path = join(core, 'xml', 'fhir-single.xsd');
  const document = XmlDocument.fromBuffer(readFileSync(path), { url: path });
  return XsdValidator.fromDoc(document);
}

/** What became of examples that went from JSON to JSON, to XML and back. Each list names files. */
export interface RoundTrips {
  read: number;
  readonly jsonChanged: string[];
  readonly schemaRefuses: string[];
  readonly xmlChanged: string[];
  validated: number;
}

/** The largest example, in characters, that the schema is asked about. */
const MOST_VALIDATED = 2_000_000;

/** Sends examples around. */
export function roundTrip(files: readonly string[], schema: XsdValidator): RoundTrips {
  const result: RoundTrips = { read: 0, validated: 0, jsonChanged: [], schemaRefuses: [], xmlChanged: [] };
  for (const file of files) {
    const { text } = readExample(file);
    const resource = readJson(text) as Resource;
    result.read++;
    if (withoutSpace(writeJson(resource)) !== withoutSpace(text)) result.jsonChanged.push(file);
    const xml = writeXml(resource, tables);
    if (text.length < MOST_VALIDATED) {
      result.validated++;
      if (!isValid(xml, schema)) result.schemaRefuses.push(file);
    }
    const pretty = writeXml(resource, tables, { pretty: true });
    if (![xml, pretty].every((form) => equalJson(readXml(form, tables), resource))) result.xmlChanged.push(file);
  }
  return result;
}

/** Whether the schema takes it. */
function isValid(xml: string, schema: XsdValidator): boolean {
  using document = XmlDocument.fromString(xml);
  try {
    schema.validate(document);
    return true;
  } catch {
    return false;
  }
}

/** JSON without the white space between its tokens, and strings in one spelling of their escapes. */
function withoutSpace(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"|\s+/g, (part) =>
    part.startsWith('"') ? JSON.stringify(JSON.parse(part)) : '',
  );
}
