import type { PathStep, TypeRow } from '../../runtime/contract/index.js';

/** Type names that the values at the end of a path may have, and what is wrong on the way there. */
export interface Walk {
  readonly types: readonly string[];
  readonly faults: readonly string[];
}

interface Field {
  readonly type: string;
  readonly targets: readonly string[] | undefined;
}

/**
 * Follows steps through type rows as the runtime would follow them through a resource. It knows nothing of FHIRPath,
 * nor of how the steps were made.
 */
export class Walker {
  private readonly fields = new Map<string, ReadonlyMap<string, readonly Field[]>>();
  private readonly rows: ReadonlyMap<string, TypeRow>;

  constructor(rows: readonly TypeRow[]) {
    this.rows = new Map(rows.map((row) => [row.name, row]));
  }

  walk(root: string, steps: readonly PathStep[]): Walk {
    let at: readonly Field[] = [{ type: root, targets: undefined }];
    const faults: string[] = [];
    for (const step of steps) {
      at = this.step(at, step, faults);
      if (at.length === 0) faults.push(`nothing is reached by ${JSON.stringify(step)}`);
    }
    return { types: [...new Set(at.map(({ type }) => type))].sort(), faults };
  }

  private step(at: readonly Field[], step: PathStep, faults: string[]): readonly Field[] {
    const inner = (steps: readonly PathStep[]): readonly string[] => {
      const walks = at.map(({ type }) => this.walk(type, steps));
      faults.push(...walks.flatMap((walk) => walk.faults));
      return walks.flatMap((walk) => walk.types);
    };
    if ('get' in step) return at.flatMap(({ type }) => this.child(type, step.get));
    if ('choose' in step) {
      return Object.entries(step.choose).flatMap(([name, type]) => {
        const forms = at.flatMap((from) => this.child(from.type, name));
        if (forms.some((form) => form.type !== type)) faults.push(`${name} is not a ${type}`);
        return forms;
      });
    }
    if ('where' in step) {
      const types = inner(step.where);
      if (step.equals !== undefined && !types.every((type) => /^[a-z]/.test(type))) {
        faults.push(`${types.join()} never equals ${String(step.equals)}`);
      }
      return at;
    }
    if ('refers' in step) return at.filter(({ type, targets }) => refersTo(type, targets, step.refers));
    if ('is' in step) return at.flatMap(({ type }) => (type === 'Resource' ? [{ ...at[0]!, type: step.is }] : []));
    if ('extension' in step) return [{ type: 'Extension', targets: undefined }];
    if ('union' in step) return step.union.flatMap((way) => inner(way).map((type) => ({ type, targets: undefined })));
    if ('notFalse' in step) return [{ type: 'boolean', targets: undefined }];
    return at;
  }

  /** What stands under a name in JSON. */
  private child(type: string, name: string): readonly Field[] {
    let fields = this.fields.get(type);
    if (fields === undefined) this.fields.set(type, (fields = this.fieldsOf(type)));
    return fields.get(name) ?? [];
  }

  private fieldsOf(type: string): Map<string, readonly Field[]> {
    const row = this.rows.get(type);
    const fields = row?.base === undefined ? new Map<string, readonly Field[]>() : this.fieldsOf(row.base);
    for (const element of row?.elements ?? []) {
      for (const one of element.types) {
        const name = element.choice === true ? element.name + one.charAt(0).toUpperCase() + one.slice(1) : element.name;
        fields.set(name, [{ type: one, targets: element.targets?.[one] }]);
      }
    }
    return fields;
  }
}

function refersTo(type: string, targets: readonly string[] | undefined, target: string): boolean {
  return ['Reference', 'CodeableReference', 'canonical'].includes(type) && (targets?.includes(target) ?? true);
}
