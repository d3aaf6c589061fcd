/** Makes a tree such that changing it throws. */
export function freeze<T>(tree: T): T {
  if (typeof tree === 'object' && tree !== null && !Object.isFrozen(tree)) {
    Object.freeze(tree);
    Object.values(tree).forEach(freeze);
  }
  return tree;
}
