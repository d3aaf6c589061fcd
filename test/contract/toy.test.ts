import { containedBehaviour } from './behaviour-contained.js';
import { countByBehaviour } from './behaviour-count-by.js';
import { guardBehaviour } from './behaviour-guards.js';
import { searchAcrossBehaviour } from './behaviour-search-across.js';
import { searchIncludeBehaviour } from './behaviour-search-includes.js';
import { searchLinkRandomBehaviour } from './behaviour-search-link-random.js';
import { searchLinkBehaviour } from './behaviour-search-links.js';
import { searchOwnBaseBehaviour } from './behaviour-search-own-base.js';
import { searchPageBehaviour } from './behaviour-search-pages.js';
import { searchScopesRandomBehaviour } from './behaviour-search-scopes-random.js';
import { searchUpkeepBehaviour } from './behaviour-search-upkeep.js';
import { searchBehaviour } from './behaviour-search.js';
import type { Subject } from './subject.js';

/** The store that other tests take for a real one: what `matches` and `compareBy` say by themselves. */
const toy: Subject = { name: 'the toy store', url: () => 'toy:', isShared: false };

searchBehaviour(toy);
searchPageBehaviour(toy);
countByBehaviour(toy);
searchLinkBehaviour(toy);
searchIncludeBehaviour(toy);
searchOwnBaseBehaviour(toy, true);
searchAcrossBehaviour(toy);
searchLinkRandomBehaviour(toy, 20);
searchScopesRandomBehaviour(toy, 20);
searchUpkeepBehaviour(toy);
guardBehaviour(toy);
containedBehaviour(toy);
