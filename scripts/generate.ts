/** Writes all generated files; with --check, only reports which are out of date. */

import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { CheckDeclaration } from '../src/analysis/check.ts';
import { idNounsModule, rowTypesModule } from './row-types.ts';

const root = new URL('../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');

/**
 * The schema as a module, because the executable contains no other files. Without comments, except those that PostgreSQL
 * needs.
 */
function schemaModule(): string {
  const schema = read('schema.sql').replace(/^ *--(?! Unlogged).*\n/gm, '');
  return `/** Generated from schema.sql by \`npm run generate\`; do not edit. */\n\nexport const SCHEMA = ${JSON.stringify(schema)};\n`;
}

/** The document with the table of variables. */
async function configuration(): Promise<string> {
  const { environmentTable } = await import('../src/commands/env.ts');
  return fillSection(read('docs/configuration.md'), 'environment', environmentTable());
}

/** The document with the figures of the last benchmark. */
async function benchmarks(): Promise<string> {
  const { benchmarkTable } = await import('./bench/table.ts');
  const table = benchmarkTable(JSON.parse(read('docs/benchmarks.json')));
  return fillSection(read('docs/benchmarks.md'), 'benchmarks', table);
}

/** The document with the figures of one and two nodes. */
async function scaling(): Promise<string> {
  const { nodesTable } = await import('./bench/table.ts');
  const table = nodesTable(JSON.parse(read('docs/benchmarks.json')));
  return fillSection(read('docs/scaling.md'), 'nodes', table);
}

/** The document about what messages cost. */
async function performanceFigures(): Promise<string> {
  const { capacityTables, floorTable, messageTable } = await import('./bench/table.ts');
  const figures = JSON.parse(read('docs/benchmarks.json'));
  const text = fillSection(read('docs/performance.md'), 'message', messageTable(figures));
  const withFloor = fillSection(text, 'floor', floorTable(figures));
  return fillSection(withFloor, 'capacity', capacityTables(figures));
}

/** The document with the figures of the last reliability runs. */
async function reliability(): Promise<string> {
  const { reliabilityTable } = await import('./reliability/scenarios.ts');
  const table = reliabilityTable(JSON.parse(read('docs/reliability.json')));
  return fillSection(read('docs/reliability.md'), 'reliability', table);
}

/** The document with the table of declared blocklists. */
async function blocklists(): Promise<string> {
  const { blocklistTable } = await import('../src/analysis/blocklists/lists.ts');
  return fillSection(read('docs/blocklists.md'), 'blocklists', blocklistTable());
}

/** The document with the records of sending services. */
async function sendingServices(): Promise<string> {
  const { sendingServiceTable } = await import('./sending-services.ts');
  return fillSection(read('docs/sending-services.md'), 'services', sendingServiceTable());
}

/** The document with the weights and the caps. */
async function scoring(): Promise<string> {
  const { capTable } = await import('../src/analysis/providers/evaluate.ts');
  const { weightTable } = await import('../src/analysis/score.ts');
  return fillSection(
    fillSection(read('docs/scoring.md'), 'weights', weightTable()),
    'caps',
    capTable(),
  );
}

/** The document with the table of declared alert conditions. */
async function monitoring(): Promise<string> {
  const { conditionTable } = await import('../src/alerts/conditions/index.ts');
  return fillSection(read('docs/monitoring.md'), 'alert conditions', conditionTable());
}

/** The code samples of docs/webhooks.md, which the tests run too. */
const SAMPLES: [file: string, language: string][] = [
  ['verify.ts', 'ts'],
  ['verify-standard.ts', 'ts'],
  ['verify.py', 'python'],
  ['verify.go', 'go'],
  ['verify.sh', 'sh'],
];

async function webhooks(): Promise<string> {
  const { DOCUMENTED_API } = await import('../src/features.ts');
  const rows = DOCUMENTED_API.events.map(
    ({ type, description, object }) => `| \`${type}\` | ${description} | ${object} |`,
  );
  const table = ['| type | sent when | `data` |', '|---|---|---|', ...rows].join('\n');
  return SAMPLES.reduce(
    (text, [file, language]) =>
      fillSection(text, file, `\n\`\`\`${language}\n${read(`docs/webhooks/${file}`)}\`\`\`\n`),
    fillSection(read('docs/webhooks.md'), 'events', table),
  );
}

/** Replaces the text between two marker comments; throws if they are missing. */
function fillSection(text: string, name: string, content: string): string {
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const from = text.indexOf(start);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`The text has no section ${start} … ${end}`);
  return `${text.slice(0, from + start.length)}\n${content}\n${text.slice(to)}`;
}

/** The declarations of all checks, for code that must not load the checks themselves. */
async function checkDeclarations(): Promise<string> {
  const { CHECKS, DOMAIN_CHECKS } = await import('../src/analysis/checks/index.ts');
  const declared = [...CHECKS, ...DOMAIN_CHECKS].map(
    ({
      id,
      label,
      category,
      points,
      reference,
      dependsOn,
      ...rest
    }): [string, CheckDeclaration] => {
      const { issueTitle, publicEvidence, publicTexts } = rest;
      const known = { label, category, points, reference, dependsOn };
      return [id, { ...known, issueTitle, publicEvidence, publicTexts }];
    },
  );
  const json = JSON.stringify(Object.fromEntries(declared), null, 2);
  return `/** Generated from src/analysis/checks by \`npm run generate\`; do not edit. */\n\nimport type { CheckDeclaration } from './check.ts';\n\nexport const DECLARATIONS: Record<string, CheckDeclaration> = ${json};\n`;
}

/** The document with the tables of tools and prompts for assistants. */
async function tools(): Promise<string> {
  const { TOOLS } = await import('../src/features.ts');
  const { requiredRole } = await import('../src/http/tool.ts');
  const rows = TOOLS.map(({ name, description, effect, uses }) => {
    const kind =
      effect === 'writes' ? 'changes settings' : effect === 'creates' ? 'creates' : 'reads';
    return `| \`${name}\` | ${kind} | ${requiredRole(uses)} | ${description} |`;
  });
  const table = ['| tool | | role | |', '|---|---|---|---|', ...rows].join('\n');
  const { PROMPTS } = await import('../src/mcp/prompts.ts');
  const prompts = PROMPTS.map(
    ({ name, title, argument, tools }) =>
      `| \`${name}\` | ${title} | \`${argument.name}\`${argument.required ? '' : ' (optional)'}: ${argument.description} | ${tools.map((tool) => `\`${tool}\``).join(', ')} |`,
  );
  const promptTable = ['| prompt | | asks for | uses |', '|---|---|---|---|', ...prompts].join(
    '\n',
  );
  const withTools = fillSection(read('docs/mcp.md'), 'tools', table);
  return fillSection(withTools, 'prompts', promptTable);
}

/** The event types of all features, for code below them. */
async function eventTypes(): Promise<string> {
  const { DOCUMENTED_API } = await import('../src/features.ts');
  const summaries = DOCUMENTED_API.events.map(
    ({ type, summary }) => `  '${type}': ${JSON.stringify(summary).replaceAll('"', "'")},`,
  );
  return `/** Generated from the declarations of the features by \`npm run generate\`; do not edit. */\n\n/** Each event type with its meaning in a few words. */\nexport const EVENT_SUMMARIES = {\n${summaries.join('\n')}\n} as const;\n\nexport const EVENT_TYPES = Object.keys(EVENT_SUMMARIES) as (keyof typeof EVENT_SUMMARIES)[];\n`;
}

/** Every page, from the routes that the files of the dashboard export. */
async function dashboardPages(): Promise<string> {
  const folder = fileURLToPath(new URL('src/dashboard/', root));
  const files = globSync('**/*.{ts,tsx}', {
    cwd: folder,
    exclude: ['browser/**', 'frame/**', 'feature.ts', 'pages.generated.ts'],
  }).map((file) => file.replaceAll(sep, '/'));
  const found = await Promise.all(
    files.toSorted().map(async (file) => {
      const exported: object = await import(pathToFileURL(`${folder}${file}`).href);
      const names = Object.entries(exported).flatMap(([name, value]) =>
        isRoutes(value) ? [name] : [],
      );
      return { file, names: names.toSorted() };
    }),
  );
  const pages = found.filter(({ names }) => names.length > 0);
  const imports = pages.map(
    ({ file, names }) => `import { ${names.join(', ')} } from './${file}';`,
  );
  const lines = pages.flatMap(({ names }) => names.map((name) => `  ...${name},`));
  return `/** Generated from the files of src/dashboard by \`npm run generate\`; do not edit. */\n\n${imports.join('\n')}\n\nexport const DASHBOARD_ROUTES = [\n${lines.join('\n')}\n];\n`;
}

const isRoutes = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((one) => typeof one?.path === 'string' && typeof one.handle === 'function');

/** The script of the pages as a module, because the executable contains no other files. */
async function pageScript(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: ['src/dashboard/browser/main.ts'],
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    write: false,
  });
  return `/** Generated from src/dashboard/browser by \`npm run generate\`; do not edit. */\n\nexport const SCRIPT = ${JSON.stringify(outputFiles[0]!.text)};\n`;
}

/** The path and content of each file. Later entries may import files that earlier ones wrote. */
const FILES: [string, () => string | Promise<string>][] = [
  ['src/store/schema.generated.ts', schemaModule],
  ['src/store/tables.generated.ts', () => rowTypesModule(read('schema.sql'))],
  ['src/lib/id-nouns.generated.ts', () => idNounsModule(read('schema.sql'))],
  [
    'src/analysis/html/client-support.generated.ts',
    async () => (await import('./caniemail.ts')).clientSupportModule(),
  ],
  [
    'src/report/pdf/bundled-fonts.generated.ts',
    async () => (await import('./fonts.ts')).bundledFontsModule(),
  ],
  ['src/analysis/declarations.generated.ts', checkDeclarations],
  ['src/dashboard/pages.generated.ts', dashboardPages],
  ['docs/mcp.md', tools],
  ['src/events/event-types.generated.ts', eventTypes],
  ['src/dashboard/frame/script.generated.ts', pageScript],
  ['docs/configuration.md', configuration],
  ['docs/benchmarks.md', benchmarks],
  ['docs/blocklists.md', blocklists],
  ['docs/monitoring.md', monitoring],
  ['docs/scaling.md', scaling],
  ['docs/performance.md', performanceFigures],
  ['docs/reliability.md', reliability],
  ['docs/scoring.md', scoring],
  ['docs/sending-services.md', sendingServices],
  ['docs/webhooks.md', webhooks],
];

const checkOnly = process.argv.includes('--check');
let stale = 0;
for (const [path, make] of FILES) {
  const expected = await make();
  let current = '';
  try {
    current = read(path);
  } catch {
    // The file does not exist yet.
  }
  if (current === expected) continue;
  stale += 1;
  if (checkOnly) console.error(`${path} is out of date: run npm run generate`);
  else {
    writeFileSync(fileURLToPath(new URL(path, root)), expected);
    console.error(`Wrote ${path}`);
  }
}
process.exitCode = checkOnly && stale > 0 ? 1 : 0;
