/** Writes every generated file; with --check it only says whether they are up to date. */

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rowTypesModule } from './row-types.ts';

const root = new URL('../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');

/** The schema as a module: the executable has no other file to read it from. */
function schemaModule(): string {
  return `/** Generated from schema.sql by \`npm run generate\`; do not edit. */\n\nexport const SCHEMA = ${JSON.stringify(read('schema.sql'))};\n`;
}

/** The README with its tables as the code and the last benchmark have them. */
async function readme(): Promise<string> {
  const { environmentTable } = await import('../src/commands/env.ts');
  const { benchmarkTable } = await import('./bench/table.ts');
  const filled = between(read('README.md'), 'environment', environmentTable());
  return between(filled, 'benchmarks', benchmarkTable(JSON.parse(read('docs/benchmarks.json'))));
}

/** The table of the blocklists as they are declared. */
async function blocklists(): Promise<string> {
  const { blocklistTable } = await import('../src/analysis/blocklists/lists.ts');
  return between(read('docs/blocklists.md'), 'blocklists', blocklistTable());
}

/** The table of the alert conditions as they are declared. */
async function monitoring(): Promise<string> {
  const { conditionTable } = await import('../src/alerts/conditions/index.ts');
  return between(read('docs/monitoring.md'), 'alert conditions', conditionTable());
}

/** The samples of the page, as the tests run them. */
const SAMPLES: [file: string, language: string][] = [
  ['verify.ts', 'ts'],
  ['verify-standard.ts', 'ts'],
  ['verify.py', 'python'],
  ['verify.go', 'go'],
  ['verify.sh', 'sh'],
];

function webhooks(): string {
  return SAMPLES.reduce(
    (text, [file, language]) =>
      between(text, file, `\n\`\`\`${language}\n${read(`docs/webhooks/${file}`)}\`\`\`\n`),
    read('docs/webhooks.md'),
  );
}

function between(text: string, name: string, content: string): string {
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const from = text.indexOf(start);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`the text lacks ${start} … ${end}`);
  return `${text.slice(0, from + start.length)}\n${content}\n${text.slice(to)}`;
}

/** What the checks declare about themselves, for whoever needs no check to run. */
async function checkDeclarations(): Promise<string> {
  const { CHECKS, DOMAIN_CHECKS } = await import('../src/analysis/checks/index.ts');
  const declared = [...CHECKS, ...DOMAIN_CHECKS].map(
    ({ id, issueTitle, publicEvidence, publicTexts }) => [
      id,
      { issueTitle, publicEvidence, publicTexts },
    ],
  );
  const json = JSON.stringify(Object.fromEntries(declared), null, 2);
  return `/** Generated from src/analysis/checks by \`npm run generate\`; do not edit. */\n\nimport type { CheckDeclaration } from './check.ts';\n\nexport const DECLARATIONS: Record<string, CheckDeclaration> = ${json};\n`;
}

/** Path, and what it must hold. Later ones may import what earlier ones wrote. */
const FILES: [string, () => string | Promise<string>][] = [
  ['src/store/schema.generated.ts', schemaModule],
  ['src/store/tables.generated.ts', () => rowTypesModule(read('schema.sql'))],
  [
    'src/analysis/html/client-support.generated.ts',
    async () => (await import('./caniemail.ts')).clientSupportModule(),
  ],
  ['src/analysis/declarations.generated.ts', checkDeclarations],
  ['README.md', readme],
  ['docs/blocklists.md', blocklists],
  ['docs/monitoring.md', monitoring],
  ['docs/webhooks.md', webhooks],
];

const onlyCheck = process.argv.includes('--check');
let stale = 0;
for (const [path, make] of FILES) {
  const wanted = await make();
  let present = '';
  try {
    present = read(path);
  } catch {
    // Not there yet.
  }
  if (present === wanted) continue;
  stale += 1;
  if (onlyCheck) console.error(`${path} is not up to date: run npm run generate`);
  else {
    writeFileSync(fileURLToPath(new URL(path, root)), wanted);
    console.error(`wrote ${path}`);
  }
}
process.exitCode = onlyCheck && stale > 0 ? 1 : 0;
