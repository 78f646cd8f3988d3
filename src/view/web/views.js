// The views of a page, in the order of their tabs. A view is shown where the page has all sections that it needs; one of tables
// where it has a table whose `tab` names it. Plain ones have nothing to do with the tree.
import { make_compare } from './compare.js';
import { make_overview } from './overview.js';
import { make_flame_view } from './flame.js';
import { make_tree_view } from './tree.js';
import { make_timeline_view } from './timeline.js';
import { make_latency_view } from './latency.js';
import { make_functions_view } from './functions.js';
import { make_runtime } from './runtime.js';
import { make_code } from './code.js';
import { make_events } from './events.js';
import { make_sql_view } from './sql.js';
import { make_losses } from './losses.js';

export const VIEWS = [
  { id: 'compare', title: 'Compare', needs: ['compare', 'union'], make: make_compare },
  { id: 'overview', title: 'Overview', needs: ['tree', 'functions'], make: make_overview },
  { id: 'flame', title: 'Flame', needs: ['tree'], make: make_flame_view },
  { id: 'tree', title: 'Tree', needs: ['tree'], make: make_tree_view },
  { id: 'timeline', title: 'Timeline', needs: ['slices'], times: ['spans'], make: make_timeline_view },
  { id: 'latency', title: 'Latency', needs: ['hist'], times: ['heat'], make: make_latency_view },
  { id: 'functions', title: 'Functions', needs: ['functions'], make: make_functions_view },
  { id: 'runtime', title: 'Runtime', needs: ['tables'], tables: true, plain: true, make: make_runtime },
  { id: 'code', title: 'Code', needs: ['tables'], tables: true, plain: true, make: make_code },
  { id: 'events', title: 'Events', needs: ['tables', 'class'], plain: true, make: make_events },
  { id: 'sql', title: 'SQL', needs: ['sql'], plain: true, make: make_sql_view },
  { id: 'losses', title: 'Losses', needs: [], plain: true, make: make_losses },
];
