/** The figures of the last `npm run bench` as the README shows them. */

type Figures = Record<string, Record<string, number | string> | string>;

interface Row {
  what: string;
  /** The section and the figure of the file. */
  from: [string, string];
  unit: string;
  target: string;
}

const ROWS: Row[] = [
  {
    what: 'Messages accepted by SMTP, durable, over a plain append and fsync of the same bytes',
    from: ['smtp', 'smtp_over_append'],
    unit: '×',
    target: '',
  },
  {
    what: 'Analyses on one worker over bare mailauth (11 kB, two signatures)',
    from: ['analysis', 'one_worker_over_bare'],
    unit: '×',
    target: '≥ 0.6',
  },
  {
    what: 'Analyses on two workers over one',
    from: ['analysis', 'two_workers_over_one'],
    unit: '×',
    target: '≥ 1.5',
  },
  {
    what: '`GET /v1/tests/{id}` over a bare node:http and better-sqlite3 handler',
    from: ['http', 'service_over_bare'],
    unit: '×',
    target: '≥ 0.5',
  },
  {
    what: 'Webhooks, commit to receipt at 50 events a second, 95th percentile',
    from: ['webhooks', 'p95_ms_at_50_per_second'],
    unit: ' ms',
    target: '< 100 ms',
  },
  {
    what: 'Webhooks, the same at 200 a second',
    from: ['webhooks', 'p95_ms_at_200_per_second'],
    unit: ' ms',
    target: '< 100 ms',
  },
  {
    what: 'Webhooks, 1,000 a second for a minute: lost',
    from: ['webhooks', 'long_run_lost'],
    unit: '',
    target: '0',
  },
  {
    what: 'Webhooks, a new delivery beside 1,000,000 stored ones over one beside none',
    from: ['webhooks', 'stored_over_none'],
    unit: '×',
    target: '< 1.2',
  },
  {
    what: '10,000 domains and 10,000 monitors, all due at once: until all are done (extrapolated where fewer were run)',
    from: ['watching', 'seconds_for_all_extrapolated'],
    unit: ' s',
    target: '< 3600 s',
  },
  {
    what: 'The same where nothing gets to port 25 of mail servers (extrapolated)',
    from: ['watching', 'silent_port_25_seconds_for_all_extrapolated'],
    unit: ' s',
    target: '< 3600 s',
  },
  {
    what: 'The API meanwhile, 95th percentile of the slowest of four requests',
    from: ['watching', 'api_p95_ms'],
    unit: ' ms',
    target: '< 50 ms',
  },
  {
    what: 'Analysis of a received mail meanwhile, over one before',
    from: ['watching', 'analysis_beside_over_before'],
    unit: '×',
    target: '< 2',
  },
  {
    what: '`GET /v1/reports/summary` of a month beside 1,000,000 tests, median',
    from: ['summary', 'month_ms_beside_all'],
    unit: ' ms',
    target: '< 20 ms',
  },
  {
    what: 'The same over one beside 10,000 tests',
    from: ['summary', 'all_over_10_000'],
    unit: '×',
    target: '< 2',
  },
  {
    what: 'Counting a completed test over analysing it',
    from: ['summary', 'counting_over_analysis'],
    unit: '×',
    target: '< 0.05',
  },
  {
    what: 'Executable: start to ready',
    from: ['start', 'start_to_ready_seconds'],
    unit: ' s',
    target: '< 0.7 s',
  },
  {
    what: 'Executable: memory when idle',
    from: ['start', 'idle_memory_mb'],
    unit: ' MB',
    target: '< 160 MB',
  },
  { what: 'Executable: size', from: ['start', 'executable_mb'], unit: ' MB', target: '< 120 MB' },
];

export function benchmarkTable(figures: Figures): string {
  const lines = ROWS.map(({ what, from: [section, name], unit, target }) => {
    const value = (figures[section] as Record<string, number> | undefined)?.[name];
    return `| ${what} | ${value === undefined ? 'not measured' : `${value}${unit}`} | ${target} |`;
  });
  return [
    `Measured on ${figures.date} (${figures.machine}):`,
    '',
    '| | | target |',
    '|---|---|---|',
    ...lines,
  ].join('\n');
}
