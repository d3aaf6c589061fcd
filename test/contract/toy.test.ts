import { searchBehaviour } from './behaviour-search.js';
import type { Subject } from './subject.js';

/** The store that other tests take for a real one, and what `match` and `compareBy` say by themselves. */
const toy: Subject = { name: 'the toy store', url: () => 'toy:', isShared: false };

searchBehaviour(toy);
