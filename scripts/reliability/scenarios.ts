/** What can go wrong, the test of it, and the size of the full run. */

export type Figures = { [name: string]: number };

/** One call of a test file. */
export interface Run {
  file: string;
  env: { [name: string]: string };
}

export interface Scenario {
  name: string;
  /** What goes wrong. */
  fault: string;
  /** What the test asserts. */
  asserts: string;
  /** Test files, with the variables that set their size. */
  runs: { file: string; env?: { [name: string]: string } }[];
  /** How often all of them run. */
  cycles?: number;
  /** The figures in words. */
  describe(figures: Figures): string;
}

const long = (name: string) => `test/long/${name}.test.ts`;

/** Each cycle covers all features, and comes at each moment ten times. */
const KILLS: Scenario = {
  name: 'kills',
  fault: '`kill -9` under the load of all features, at the moments that tell most',
  asserts:
    'Nothing acknowledged is lost, nothing is invented, no recorded work is repeated. Three nodes and crashes of PostgreSQL are included.',
  cycles: 10,
  runs: [
    { file: long('kill/service-kill'), env: { KILL_ROUNDS: '100' } },
    { file: long('kill/nodes-kill'), env: { KILL_ROUNDS: '5' } },
    { file: long('kill/database-kill'), env: { KILL_ROUNDS: '2' } },
    { file: long('kill/lost-sign-in') },
  ],
  describe: ({ rounds, kept, acknowledged }) =>
    acknowledged === undefined
      ? `${rounds} kills`
      : `${rounds} kills, ${kept} messages and ${acknowledged} reports acknowledged and kept`,
};

const diskFault = (name: string, fault: string, asserts: string): Scenario => ({
  name,
  fault,
  asserts,
  runs: [{ file: long('disk-faults'), env: { DISK_FAULTS: name, DISK_FAULT_ROUNDS: '20' } }],
  describe: ({ rounds, failedCalls, refused, kept, restarts, max_recovery_ms }) =>
    `${rounds} rounds, ${failedCalls} failed calls, ${refused} refusals, ${kept} messages accepted and kept, ${restarts} restarts, recovery within ${seconds(max_recovery_ms)}`,
});

const seconds = (ms = 0) => `${Math.ceil(ms / 100) / 10} s`;

export const SCENARIOS: Scenario[] = [
  KILLS,
  {
    name: 'power-cuts',
    fault: 'Power failures: unsynced writes are lost, reordered or torn',
    asserts: 'Nothing acknowledged is lost, and the database stays consistent',
    runs: [{ file: long('power-cut'), env: { POWER_CUT_ROUNDS: '100' } }],
    describe: ({ rounds, unsynced, lost, kept }) =>
      `${rounds} power failures, ${lost} of ${unsynced} unsynced writes lost, ${kept} messages accepted and kept`,
  },
  diskFault(
    'disk-full',
    'A full disk',
    'Mail gets 452, requests get 503, and both work again once there is space',
  ),
  diskFault(
    'read-only',
    'A disk that turns read-only',
    'Mail gets 451, requests get 503, and both work again later',
  ),
  diskFault('io-errors', 'One write in three fails', 'Mail gets 451, requests get 503'),
  diskFault(
    'sync-errors',
    'Half of all syncs fail',
    'What was acknowledged is on disk; if that cannot be guaranteed, the process ends',
  ),
  {
    name: 'fuzz-messages',
    fault: 'Mutated messages',
    asserts:
      'Each is analyzed without a fault and without a stall over 200 ms. Every tenth also becomes a page or a PDF.',
    runs: [{ file: long('fuzz-messages'), env: { FUZZ_CASES: '100000' } }],
    describe: ({ cases, max_cpu_ms }) => `${cases} messages, the slowest took ${max_cpu_ms} ms`,
  },
  {
    name: 'fuzz-feedback',
    fault: 'Mutated reports, in every container',
    asserts: 'Each is read or refused, and no count is anything but a whole number',
    runs: [{ file: long('fuzz-feedback'), env: { FUZZ_CASES: '100000' } }],
    describe: ({ cases, read, max_cpu_ms }) =>
      `${cases} files, of which ${read} could be read, the slowest in ${max_cpu_ms} ms`,
  },
  {
    name: 'fuzz-requests',
    fault: 'Mutated HTTP requests',
    asserts: 'No crash, no 500, and no stall of the service over 200 ms',
    runs: [{ file: long('fuzz-requests'), env: { FUZZ_CASES: '100000' } }],
    describe: ({ cases, max_stall_ms }) =>
      `${cases} requests, the longest stall took ${max_stall_ms} ms of work`,
  },
  {
    name: 'smtp-attacks',
    fault:
      'Smuggling in every form and split, floods of connections and recipients, endless lines, injected commands',
    asserts: 'No message is smuggled, no client is forged, and good clients are served',
    runs: [{ file: long('smtp-attacks'), env: { SMTP_SEQUENCE: '7' } }],
    describe: ({ sequences, attempts, connections, max_delivery_ms }) =>
      `${sequences} sequences of bytes, ${attempts} splits of pipelined attacks, ${connections} connections in a minute with deliveries within ${seconds(max_delivery_ms)}`,
  },
  {
    name: 'clock',
    fault: 'Jumps of the clock, up to a day; a folder on NFS or SMB',
    asserts: 'No message is lost and no work stops; `serve` refuses such a folder',
    runs: [{ file: long('clock-and-file-system') }],
    describe: ({ jumps, kept }) => `${jumps} jumps, ${kept} messages accepted and kept`,
  },
  {
    name: 'outages',
    fault: 'DNS, outgoing SMTP and webhook receivers are down',
    asserts: 'Mail is accepted; analyses, emails and events follow later, each once',
    runs: [{ file: long('outages'), env: { OUTAGE_TESTS: '20' } }, { file: long('dns-failure') }],
    describe: ({ tests, events, mails }) => `${tests} tests, ${events} events, ${mails} emails`,
  },
  {
    name: 'threads',
    fault: 'An analysis thread hangs, runs out of memory or ends',
    asserts: 'Only its message is affected, and a new thread takes its place',
    runs: [{ file: 'test/analysis/pool.test.ts' }],
    describe: () => '',
  },
  {
    name: 'memory-256',
    fault: 'A container with 256 MB',
    asserts: 'The kernel ends no process, and all messages are analyzed',
    runs: [{ file: long('container-memory'), env: { CONTAINER_MAILS: '1000' } }],
    describe: ({ mails, max_memory_mb }) => `${mails} messages, at most ${max_memory_mb} MB`,
  },
  {
    name: 'measures',
    fault:
      'Hostile messages, clients that hardly read, thousands of open connections, strangers who fill the disk, visitors of the API reference',
    asserts: 'Memory stays below its bounds, nothing stalls for 200 ms, and others are served',
    runs: [
      'memory',
      'slow-readers',
      'stall',
      'stubborn-connections',
      'disk-share',
      'docs-page',
    ].map((name) => ({
      file: long(name),
      env: { TEST_FULL_SIZE: '1' },
    })),
    describe: () => '',
  },
  {
    name: 'tables',
    fault: 'Hostile requests to every operation, any date of the clock, both themes at both sizes',
    asserts: 'The same holds for the whole table as for the sample that the tests take of it',
    runs: [
      'hostile-requests',
      'check-clock',
      'dashboard-alerts',
      'dashboard-dns',
      'dashboard-domains',
      'dashboard-feedback',
      'dashboard-overview',
      'dashboard-placement',
      'dashboard-receivers',
      'dashboard-team',
      'dashboard-test-page',
      'dashboard-tests',
    ].map((name) => ({ file: long(name), env: { TEST_FULL_SIZE: '1' } })),
    describe: () => '',
  },
  {
    name: 'soak',
    fault: 'Half an hour of mail, requests, pages, webhooks and reports',
    asserts:
      'No error, flat memory and handles, and a 99th percentile of at most twice that of the first minute',
    runs: [{ file: long('soak'), env: { SOAK_SECONDS: '1800' } }],
    describe: (f) =>
      `${f.seconds} s, ${f.mails} messages, ${f.requests} requests, ${f.errors} errors, memory ${f.first_memory_mb} → ${f.max_memory_mb} MB, ${f.more_handles} more handles, 99th percentile ${f.first_p99_ms} → ${f.max_p99_ms} ms`,
  },
];

export interface Recorded {
  date: string;
  minutes: number;
  /** The mean load of the machine divided by its cores; above 1, other work delayed this. */
  load: number;
  /** Tests that failed. */
  failed: number;
  figures: Figures;
}

/** The table in docs/reliability.md with the figures of the last full runs. */
export function reliabilityTable(records: { [name: string]: Recorded }): string {
  return [
    '| Scenario | What goes wrong | What must hold | Last full run |',
    '|---|---|---|---|',
    ...SCENARIOS.map(({ name, fault, asserts, describe }) => {
      const recorded = records[name];
      return `| `.concat(
        `\`${name}\` | ${fault} | ${asserts} | ${recorded ? outcomeOf(recorded, describe) : 'not run'} |`,
      );
    }),
  ].join('\n');
}

function outcomeOf(
  { date, load, failed, figures }: Recorded,
  describe: Scenario['describe'],
): string {
  const outcome = failed === 0 ? 'Passed' : `**${failed} of its tests failed**`;
  const shared = load > 1.5 ? ` (${load} busy processes per core)` : '';
  const details = describe(figures);
  return `${outcome} on ${date}${shared}${details ? `. ${details}` : ''}`;
}

/** All calls of test files that a scenario consists of. */
export const runsOf = ({ runs, cycles = 1 }: Scenario): Run[] =>
  Array.from({ length: cycles }, () => runs.map(({ file, env = {} }) => ({ file, env }))).flat();
