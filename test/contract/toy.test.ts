import { containedBehaviour } from './behaviour/behaviour-contained.js';
import { countByBehaviour } from './behaviour/behaviour-count-by.js';
import { guardBehaviour } from './behaviour/behaviour-guards.js';
import { searchAcrossBehaviour } from './search/behaviour-search-across.js';
import { searchIncludeBehaviour } from './search/behaviour-search-includes.js';
import { searchLinkRandomBehaviour } from './search/behaviour-search-link-random.js';
import { searchLinkBehaviour } from './search/behaviour-search-links.js';
import { searchOwnBaseBehaviour } from './search/behaviour-search-own-base.js';
import { searchPageBehaviour } from './search/behaviour-search-pages.js';
import { searchScopesRandomBehaviour } from './search/behaviour-search-scopes-random.js';
import { searchUpkeepBehaviour } from './search/behaviour-search-upkeep.js';
import { searchBehaviour } from './search/behaviour-search.js';
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
