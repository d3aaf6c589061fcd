/** A node, the plain way: text, or an element as its name, its attributes and what it has in it. */
export type Naive = string | { readonly name: string; readonly a?: string; readonly children: readonly Naive[] };

/** Where a node is: places among children, from 0, the root aside. */
export type Place = readonly number[];

/** Nodes as XML does not tell them apart: text beside text is one, and none is empty. */
export function joined(nodes: readonly Naive[]): Naive[] {
  const result: Naive[] = [];
  for (const node of nodes) {
    const last = result.at(-1);
    if (node === '') continue;
    if (typeof node === 'string' && typeof last === 'string') result[result.length - 1] = last + node;
    else result.push(typeof node === 'string' ? node : { ...node, children: joined(node.children) });
  }
  return result;
}

/** A tree with other children where this place is among them. */
export function change(tree: Naive, place: Place, by: (siblings: Naive[], index: number) => Naive[]): Naive {
  if (typeof tree === 'string') throw new Error('text has no children');
  const [index, ...rest] = place;
  const children = [...tree.children];
  if (rest.length === 0) return { ...tree, children: joined(by(children, index!)) };
  children[index!] = change(children[index!]!, rest, by);
  return { ...tree, children };
}

/** The node at a place. */
export function at(tree: Naive, place: Place): Naive {
  return place.reduce<Naive>((node, index) => (typeof node === 'string' ? node : node.children[index]!), tree);
}

/** All places of a tree but that of the root. */
export function places(tree: Naive): Place[] {
  if (typeof tree === 'string') return [];
  return tree.children.flatMap((child, i) => [[i], ...places(child).map((rest) => [i, ...rest])]);
}

/** A selector for the node at a place: by positions. */
export function selector(tree: Naive, place: Place): string {
  let node = tree;
  let text = '*';
  for (const index of place) {
    if (typeof node === 'string') throw new Error('text has no children');
    const before = node.children.slice(0, index + 1);
    const next = node.children[index]!;
    const count = before.filter((each) => typeof each === typeof next).length;
    text += typeof next === 'string' ? `/text()[${count}]` : `/*[${count}]`;
    node = next;
  }
  return text;
}

/** As XML. */
export function print(node: Naive): string {
  if (typeof node === 'string') return escape(node);
  const attribute = node.a === undefined ? '' : ` a="${escape(node.a)}"`;
  return `<${node.name}${attribute}>${node.children.map(print).join('')}</${node.name}>`;
}

/** Text as it stands in XML. */
export function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\n', '&#10;');
}
