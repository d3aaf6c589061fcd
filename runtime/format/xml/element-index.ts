import { jsonName } from '../../contract/json-name.js';
import { lineOf, rowsByName } from '../../contract/type-rows.js';
import type { Tables } from '../../contract/tables.js';
import type { ElementRow, PrimitiveRow, TypeRow } from '../../contract/types.js';
import { memoizeWeak } from '../../fhir/memory/memoize.js';

/** The tables that say how a resource is written. */
export type FormatTables = Pick<Tables, 'types' | 'primitives' | 'resourceTypes'>;

/**
 * Property that may appear under one name in JSON and XML: an element, or one type of a choice element. `primitive` has
 * its row; the others are distinguished by `kind`.
 */
export interface Property {
  /** Name in JSON and XML: `valueQuantity` of `value[x]`. */
  readonly name: string;
  readonly row: ElementRow;
  /** Place among the properties of the type. */
  readonly order: number;
  /** Name of its type, `Resource` for any resource. */
  readonly type: string;
  readonly kind: 'primitive' | 'object' | 'resource' | 'xhtml';
  readonly list: boolean;
  /** Written as an attribute in XML. */
  readonly attribute: boolean;
  /** Set where `kind` is `primitive`. */
  readonly primitive: PrimitiveRow | undefined;
}

/** A type with all its properties, those of its bases first: their order in XML. */
export interface TypeProperties {
  readonly name: string;
  readonly isResource: boolean;
  readonly byName: ReadonlyMap<string, Property>;
  /** Names of this type and of those it specialises. */
  readonly lineage: readonly string[];
}

/** The properties of each type by its name, made from the rows when they are first asked for. */
export class ElementIndex {
  private readonly rows: ReadonlyMap<string, TypeRow>;
  private readonly primitives: ReadonlyMap<string, PrimitiveRow>;
  private readonly resourceTypes: ReadonlySet<string>;
  private readonly made = new Map<string, TypeProperties>();

  constructor(tables: FormatTables) {
    this.rows = rowsByName(tables.types);
    this.primitives = new Map(tables.primitives.map((row) => [row.name, row]));
    this.resourceTypes = new Set(tables.resourceTypes);
  }

  /** Whether this is the name of a resource type that is no mere base of others. */
  isResourceType(name: string): boolean {
    return this.resourceTypes.has(name);
  }

  /** Whether this is the name of a resource type, or of a base of some. */
  isResource(type: string): boolean {
    return this.rows.get(type)?.kind === 'resource';
  }

  /** The properties of a type. A name that the tables lack is a defect. */
  of(type: string): TypeProperties {
    let properties = this.made.get(type);
    if (properties === undefined) this.made.set(type, (properties = this.make(type)));
    return properties;
  }

  private make(type: string): TypeProperties {
    const lineage = lineOf(type, this.rows);
    if (lineage.length === 0) throw new Error(`the tables have no type ${type}`);
    const byName = new Map<string, Property>();
    for (const row of lineage.toReversed()) {
      for (const element of row.elements) {
        for (const elementType of element.types) {
          const property = this.property(element, elementType, byName.size);
          byName.set(property.name, property);
        }
      }
    }
    return {
      name: type,
      isResource: lineage[0]?.kind === 'resource',
      byName,
      lineage: lineage.map(({ name }) => name),
    };
  }

  private property(row: ElementRow, type: string, order: number): Property {
    const primitive = this.primitives.get(type);
    return {
      name: jsonName(row, type),
      row,
      order,
      type,
      kind:
        row.xml === 'xhtml' || type === 'xhtml'
          ? 'xhtml'
          : primitive
            ? 'primitive'
            : this.isResource(type)
              ? 'resource'
              : 'object',
      list: row.max === '*',
      attribute: row.xml === 'attribute',
      primitive,
    };
  }
}

/** The index of these tables; one for each, however often it is asked for. */
export const elementIndex = memoizeWeak((tables: FormatTables) => new ElementIndex(tables));
