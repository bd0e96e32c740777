/** Runs one benchmark and prints its figures as JSON. */

import { isMainThread } from 'node:worker_threads';
import { benchAnalysis } from './analysis.ts';
import { benchBareLf } from './bare-lf.ts';
import { benchCapacity } from './capacity.ts';
import { benchCopy } from './copy.ts';
import { benchDomainTable } from './domain-table.ts';
import { benchDomains } from './domains.ts';
import { benchFeedback } from './feedback.ts';
import { benchFeedbackPages } from './feedback-pages.ts';
import { benchFloor } from './floor.ts';
import { benchHttp } from './http.ts';
import { benchMemory } from './memory.ts';
import { benchMessage } from './message-cost.ts';
import { benchNodes } from './nodes.ts';
import { benchPages } from './pages.ts';
import { benchPeers } from './peers.ts';
import { benchSmtp } from './smtp.ts';
import { benchStart } from './start.ts';
import { benchStrangers } from './strangers.ts';
import { benchSummary } from './summary.ts';
import { benchWatching } from './watching.ts';
import { benchWebhooks } from './webhooks.ts';

const BENCHES: Record<string, (options: string[]) => Promise<object>> = {
  smtp: benchSmtp,
  analysis: benchAnalysis,
  domains: benchDomains,
  domain_table: benchDomainTable,
  http: benchHttp,
  start: benchStart,
  memory: benchMemory,
  message: benchMessage,
  floor: benchFloor,
  webhooks: benchWebhooks,
  watching: benchWatching,
  summary: benchSummary,
  copy: benchCopy,
  capacity: benchCapacity,
  nodes: benchNodes,
  feedback: benchFeedback,
  feedback_pages: benchFeedbackPages,
  pages: benchPages,
  peers: benchPeers,
  strangers: benchStrangers,
  bare_lf: benchBareLf,
};

// In the bundle, analysis threads run this file too.
if (isMainThread) {
  const name = process.argv[2] ?? '';
  const bench = BENCHES[name];
  if (!bench)
    throw new Error(`Unknown benchmark "${name}": choose ${Object.keys(BENCHES).join(', ')}`);
  console.log(JSON.stringify(await bench(process.argv.slice(3))));
}
