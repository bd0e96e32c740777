/** The tables of the documents with the results of the last `npm run bench`. */

type Figures = Record<string, Record<string, number | string> | string>;

interface Row {
  label: string;
  /** Section and key in docs/benchmarks.json. */
  from: [string, string];
  unit: string;
  target: string;
}

const ROWS: Row[] = [
  {
    label: 'Messages durably accepted by SMTP, relative to appending the same bytes with fsync',
    from: ['smtp', 'smtp_over_append'],
    unit: '×',
    target: '',
  },
  {
    label: 'Analyses on one worker, relative to plain mailauth (11 KB, two signatures)',
    from: ['analysis', 'one_worker_over_bare'],
    unit: '×',
    target: '≥ 0.6',
  },
  {
    label: 'Analyses on two workers, relative to one',
    from: ['analysis', 'two_workers_over_one'],
    unit: '×',
    target: '≥ 1.5',
  },
  {
    label: 'Check of a domain: CPU time, median of 1,000 domains in memory',
    from: ['domains', 'cpu_ms_per_domain'],
    unit: ' ms',
    target: '',
  },
  {
    label: 'Check of a domain: DNS questions, 95th percentile',
    from: ['domains', 'questions_p95'],
    unit: '',
    target: '',
  },
  {
    label: '`GET /v1/tests/{id}`, relative to a minimal node:http and better-sqlite3 handler',
    from: ['http', 'service_over_bare'],
    unit: '×',
    target: '≥ 0.80',
  },
  {
    label: 'Webhooks: commit to receipt at 50 events per second, 95th percentile',
    from: ['webhooks', 'p95_ms_at_50_per_second'],
    unit: ' ms',
    target: '< 100 ms',
  },
  {
    label: 'Webhooks: the same at 200 events per second',
    from: ['webhooks', 'p95_ms_at_200_per_second'],
    unit: ' ms',
    target: '< 100 ms',
  },
  {
    label: 'Webhooks: lost events at 1,000 per second for a minute',
    from: ['webhooks', 'long_run_lost'],
    unit: '',
    target: '0',
  },
  {
    label: 'Webhooks: time of a new delivery with 1,000,000 stored, relative to none stored',
    from: ['webhooks', 'stored_over_none'],
    unit: '×',
    target: '< 1.2',
  },
  {
    label:
      'Time to run 10,000 domain checks and 10,000 monitors due at the same time (extrapolated)',
    from: ['watching', 'seconds_for_all_extrapolated'],
    unit: ' s',
    target: '< 3600 s',
  },
  {
    label: 'The same with outgoing port 25 blocked (extrapolated)',
    from: ['watching', 'silent_port_25_seconds_for_all_extrapolated'],
    unit: ' s',
    target: '< 3600 s',
  },
  {
    label: 'API response time during that run: 95th percentile of the slowest of four requests',
    from: ['watching', 'api_p95_ms'],
    unit: ' ms',
    target: '< 50 ms',
  },
  {
    label: 'Analysis time during that run, relative to before',
    from: ['watching', 'analysis_beside_over_before'],
    unit: '×',
    target: '< 2',
  },
  {
    label: '`GET /v1/reports/summary` of a month with 1,000,000 stored tests, median',
    from: ['summary', 'month_ms_beside_all'],
    unit: ' ms',
    target: '< 20 ms',
  },
  {
    label: 'The same, relative to 10,000 stored tests',
    from: ['summary', 'all_over_10_000'],
    unit: '×',
    target: '< 2',
  },
  {
    label: 'Time to count a completed test, relative to its analysis',
    from: ['summary', 'counting_over_analysis'],
    unit: '×',
    target: '< 0.05',
  },
  {
    label:
      'Feedback: CPU time of a DMARC report with 2,286 records, from SMTP until all rows are stored',
    from: ['feedback', 'large_report_cpu_ms'],
    unit: ' ms',
    target: '< 150 ms',
  },
  {
    label: 'Feedback: CPU time of an import of 1,000,000 rows in 20,000 reports',
    from: ['feedback', 'import_cpu_seconds'],
    unit: ' s',
    target: '< 60 s',
  },
  {
    label: 'Feedback: sums of a month of a domain with these rows, median',
    from: ['feedback', 'month_ms'],
    unit: ' ms',
    target: '< 20 ms',
  },
  {
    label: 'Feedback: the 500 sources of a year, median',
    from: ['feedback', 'sources_year_ms'],
    unit: ' ms',
    target: '< 20 ms',
  },
  {
    label: 'Feedback: tests accepted beside an import, relative to without',
    from: ['feedback', 'tests_beside_over_alone'],
    unit: '×',
    target: '≥ 0.8',
  },
  {
    label: 'Feedback: CPU time of the worst hostile file',
    from: ['feedback', 'hostile_cpu_ms_most'],
    unit: ' ms',
    target: '< 500 ms',
  },
  {
    label: 'Feedback: memory of the worst hostile file',
    from: ['feedback', 'hostile_memory_mb_most'],
    unit: ' MB',
    target: '< 100 MB',
  },
  {
    label: 'Feedback: `/healthz` beside hostile files and analyses, 99th percentile',
    from: ['feedback', 'health_beside_hostile_p99_ms'],
    unit: ' ms',
    target: '< 50 ms',
  },
  {
    label:
      'Slowest page of feedback with 400 days, 5,000 sources and 1,000,000 rows, 95th percentile',
    from: ['feedback_pages', 'slowest_page_p95_ms'],
    unit: ' ms',
    target: '< 100 ms',
  },
  {
    label: 'Largest page of feedback, compressed',
    from: ['feedback_pages', 'largest_page_kb'],
    unit: ' KB',
    target: '< 60 KB',
  },
  {
    label: 'Slowest page of the dashboard with 100,000 tests and 10,000 domains, 95th percentile',
    from: ['pages', 'slowest_page_p95_ms'],
    unit: ' ms',
    target: '< 50 ms',
  },
  ...(['table', 'search', 'page /'] as const).flatMap((what) =>
    (['sqlite', 'postgres'] as const).map((engine) => ({
      label: `${{ table: 'Table of domains', search: 'Search', 'page /': 'Overview' }[what]} with 1,000 domains on ${{ sqlite: 'SQLite', postgres: 'PostgreSQL' }[engine]}, 95th percentile`,
      from: ['domain_table', `${engine} ${what} p95_ms`] as [string, string],
      unit: ' ms',
      target: '< 100 ms',
    })),
  ),
  {
    label: 'Largest page of the dashboard, compressed, with style and script',
    from: ['pages', 'largest_page_with_assets_kb'],
    unit: ' KB',
    target: '< 60 KB',
  },
  {
    label: '`GET /openapi.json` without a key: CPU time of the service',
    from: ['strangers', 'openapi_cpu_ms'],
    unit: ' ms',
    target: '< 2 ms',
  },
  {
    label: '`GET /docs` without a key: CPU time of the service',
    from: ['strangers', 'docs_cpu_ms'],
    unit: ' ms',
    target: '< 2 ms',
  },
  {
    label: 'Slowest `GET /healthz` beside 600 pipelined requests for `/docs` on another connection',
    from: ['strangers', 'beside_pipelined_docs_ms_worst'],
    unit: ' ms',
    target: '< 100 ms',
  },
  {
    label: 'CPU time to analyze 26 MB in short lines, of the costliest of eleven kinds',
    from: ['bare_lf', 'cpu_ms_most'],
    unit: ' ms',
    target: '< 2000 ms',
  },
  {
    label: 'Messages accepted by SMTP, relative to Postfix (eight kept connections)',
    from: ['peers', 'smtp_over_postfix'],
    unit: '×',
    target: '≥ 1',
  },
  {
    label: 'Analyses on one worker, relative to OpenDKIM verifying the same signatures',
    from: ['peers', 'analysis_over_opendkim'],
    unit: '×',
    target: '',
  },
  {
    label: 'Analyses on one worker, relative to Rspamd with one worker and no network',
    from: ['peers', 'analysis_over_rspamd'],
    unit: '×',
    target: '≥ 1.5',
  },
  {
    label: 'CPU time of an analysis with all threads, relative to that of Rspamd',
    from: ['peers', 'analysis_cpu_over_rspamd'],
    unit: '×',
    target: '',
  },
  {
    label: 'Analyses on one worker, relative to SpamAssassin with one child and no network',
    from: ['peers', 'analysis_over_spamassassin'],
    unit: '×',
    target: '',
  },
  {
    label: 'Executable: CPU time of a newsletter of 9 KB, from SMTP to its stored result',
    from: ['message', 'newsletter_cpu_ms'],
    unit: ' ms',
    target: '≤ 6 ms',
  },
  {
    label: 'Executable: time from start to ready',
    from: ['start', 'start_to_ready_seconds'],
    unit: ' s',
    target: '≤ 0.45 s',
  },
  {
    label: 'Executable: idle memory',
    from: ['start', 'idle_memory_mb'],
    unit: ' MB',
    target: '≤ 110 MB',
  },
  {
    label: 'Of this, private memory; the rest is the program file, which the kernel can reclaim',
    from: ['start', 'idle_private_memory_mb'],
    unit: ' MB',
    target: '≤ 55 MB',
  },
  {
    label: 'Executable: largest memory during 1,500 messages of 11 KB, one analysis thread',
    from: ['memory', 'one_worker_peak_mb'],
    unit: ' MB',
    target: '≤ 250 MB',
  },
  {
    label: 'The same with two analysis threads',
    from: ['memory', 'two_workers_peak_mb'],
    unit: ' MB',
    target: '≤ 350 MB',
  },
  {
    label: 'Largest private memory, one analysis thread',
    from: ['memory', 'one_worker_private_peak_mb'],
    unit: ' MB',
    target: '≤ 160 MB',
  },
  {
    label: 'The same with two analysis threads',
    from: ['memory', 'two_workers_private_peak_mb'],
    unit: ' MB',
    target: '≤ 230 MB',
  },
  { label: 'Executable: size', from: ['start', 'executable_mb'], unit: ' MB', target: '< 130 MB' },
];

/** The table in docs/benchmarks.md. */
export function benchmarkTable(figures: Figures): string {
  const lines = ROWS.map(({ label, from: [section, name], unit, target }) => {
    const value = (figures[section] as Record<string, number> | undefined)?.[name];
    return `| ${label} | ${value === undefined ? 'not measured' : `${value}${unit}`} | ${target} |`;
  });
  return [
    `Measured on ${figures.date} (${figures.machine}):`,
    '',
    '| Benchmark | Result | Target |',
    '|---|---|---|',
    ...lines,
  ].join('\n');
}

const NODE_SETUPS = ['sqlite', 'postgres_1_node', 'postgres_2_nodes'];

const NODE_ROWS: [label: string, figure: string, unit: string][] = [
  ['Messages accepted by SMTP', 'smtp_per_second', '/s'],
  ['CPU time of the nodes for each', 'smtp_cpu_ms', ' ms'],
  ['`GET /v1/tests/{id}`', 'get_per_second', '/s'],
  ['CPU time of the nodes for each', 'get_cpu_ms', ' ms'],
  ['Webhooks at 200 events per second: commit to receipt, median', 'webhook_p50_ms', ' ms'],
  ['The same, 95th percentile', 'webhook_p95_ms', ' ms'],
  ['CPU time of the nodes for each', 'webhook_cpu_ms', ' ms'],
  ['Jobs claimed by 8 workers, in batches of 20', 'claims_per_second', '/s'],
];

/** The table in docs/scaling.md with the results of the last `npm run bench nodes`. */
export function nodesTable({ nodes }: Figures): string {
  const figureOf = (setup: string, figure: string, unit: string) => {
    const value = (nodes as Record<string, number> | undefined)?.[`${setup}_${figure}`];
    return value === undefined ? 'not measured' : `${value}${unit}`;
  };
  return [
    '| | SQLite | PostgreSQL, one node | PostgreSQL, two nodes |',
    '|---|---|---|---|',
    ...NODE_ROWS.map(
      ([label, figure, unit]) =>
        `| ${label} | ${NODE_SETUPS.map((setup) => figureOf(setup, figure, unit)).join(' | ')} |`,
    ),
  ].join('\n');
}

const MESSAGE_ROWS: [label: string, figure: (figures: MessageFigures) => string][] = [
  ['Size', ({ bytes }) => `${(bytes / 1000).toFixed(1)} KB`],
  ['CPU time per message', ({ cpu_ms }) => `${cpu_ms} ms`],
  ['Of this, the analysis thread', ({ cpu_ms_by_thread: { analysis } }) => `${analysis} ms`],
  ['The main thread: SMTP, HTTP and database', ({ cpu_ms_by_thread: { main } }) => `${main} ms`],
  ['Garbage collector and compiler of V8', ({ cpu_ms_by_thread: { engine } }) => `${engine} ms`],
  ['Messages per second', ({ per_second }) => `${per_second}/s`],
  ['Private memory, idle', ({ private_idle_mb }) => `${private_idle_mb} MB`],
  ['Peak private memory', ({ private_peak_mb }) => `${private_peak_mb} MB`],
];

interface MessageFigures {
  bytes: number;
  cpu_ms: number;
  cpu_ms_by_thread: Record<'main' | 'analysis' | 'engine', number>;
  per_second: number;
  private_idle_mb: number;
  private_peak_mb: number;
}

/** The table in docs/performance.md with the results of the last `npm run bench -- message --cpu`. */
export function messageTable({ message }: Figures): string {
  const all = message as unknown as Record<string, MessageFigures> | undefined;
  const figureOf = (name: string, figure: (figures: MessageFigures) => string) =>
    all?.[name] ? figure(all[name]) : 'not measured';
  return [
    '| | Plain text | Newsletter, 17 links | Newsletter, 201 links |',
    '|---|---|---|---|',
    ...MESSAGE_ROWS.map(
      ([label, figure]) =>
        `| ${label} | ${['plain', 'newsletter', 'large'].map((name) => figureOf(name, figure)).join(' | ')} |`,
    ),
  ].join('\n');
}

const FLOOR_ROWS: [label: string, load: string][] = [
  ['The first 200 messages after a start, over eight connections', 'cold'],
  ['Over eight connections', 'burst'],
  ['Over one connection', 'one_connection'],
  ['A connection for each message, one at a time', 'single_messages'],
];

interface FloorFigures {
  floor: { cpu_ms: { all: number } };
  product: {
    cpu_ms: { all: number };
    over_floor: { ratio: number; sections: string; pairs: string };
  };
}

/** The table in docs/performance.md with the results of the last `npm run bench floor`. */
export function floorTable({ floor }: Figures): string {
  const all = floor as unknown as Record<string, FloorFigures> | undefined;
  return [
    '| | Bare service | This service | Ratio | Thirds of the run | Pairs |',
    '|---|---|---|---|---|---|',
    ...FLOOR_ROWS.map(([label, load]) => {
      if (!all?.[load]) return `| ${label} | not measured | | | | |`;
      const { floor: bare, product } = all[load];
      const { ratio, sections, pairs } = product.over_floor;
      return `| ${label} | ${bare.cpu_ms.all} ms | ${product.cpu_ms.all} ms | ${ratio}× | ${sections} | ${pairs} |`;
    }),
  ].join('\n');
}

const CAPACITY_ROWS: [label: string, figure: string, unit: string][] = [
  ['CPU time of a node per message', 'node_ms', ' ms'],
  ['Of this, its main thread', 'main_ms', ' ms'],
  ['CPU time of PostgreSQL per message', 'database_ms', ' ms'],
  ['Time for which a result holds the tally of its hour', 'hold_ms', ' ms'],
  ['Limit of one node (main thread 90% busy)', 'one_node_at_most', '/s'],
  ['Limit of all nodes (results commit one by one)', 'all_nodes_at_most', '/s'],
  ['Two nodes with four cores each, relative to one such node', 'two_nodes_over_one', '×'],
];

/** The tables in docs/performance.md with the results of the last `npm run bench capacity`. */
export function capacityTables({ capacity }: Figures): string {
  const figures = capacity as Record<string, number> | undefined;
  const show = (name: string, unit = '') =>
    figures?.[name] === undefined ? 'not measured' : `${figures[name]}${unit}`;
  return [
    '| | |',
    '|---|---|',
    ...CAPACITY_ROWS.map(([label, figure, unit]) => `| ${label} | ${show(figure, unit)} |`),
    '',
    '| Cores of all nodes | Messages per second | Nodes | Busy cores of PostgreSQL |',
    '|---|---|---|---|',
    ...[2, 4, 8, 16, 32].map(
      (cores) =>
        `| ${cores} | ${show(`per_second_with_${cores}_cores`)} | ${show(`nodes_with_${cores}_cores`)} | ${show(`database_cores_with_${cores}_cores`)} |`,
    ),
  ].join('\n');
}
