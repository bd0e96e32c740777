/** `npm run bench [name…]`: runs the benchmarks and writes their figures beside the documentation. */

import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { benchAnalysis } from './analysis.ts';
import { benchHttp } from './http.ts';
import { benchSmtp } from './smtp.ts';
import { benchStart } from './start.ts';

const BENCHES = { smtp: benchSmtp, analysis: benchAnalysis, http: benchHttp, start: benchStart };
type Name = keyof typeof BENCHES;

const FILE = fileURLToPath(new URL('../../docs/benchmarks.json', import.meta.url));

const wanted = process.argv.slice(2) as Name[];
const names = wanted.length > 0 ? wanted : (Object.keys(BENCHES) as Name[]);
const figures: Record<string, unknown> = read();
figures.date = new Date().toISOString().slice(0, 10);
figures.machine = `${cpus().length} cores, Node ${process.versions.node}`;
for (const name of names) {
  process.stderr.write(`${name} …\n`);
  figures[name] = await BENCHES[name]();
  console.log(name, figures[name]);
}
writeFileSync(FILE, `${JSON.stringify(figures, null, 2)}\n`);

function read(): Record<string, unknown> {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8'));
  } catch {
    return {};
  }
}
