/** Shared reports in their forms: however many read one, at the same moment or soon after, it is made once for all of them. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { App } from '../app.ts';
import { responseFilter } from '../http/response.ts';
import { sha256 } from '../lib/crypto.ts';
import { AppError } from '../lib/errors.ts';
import { oncePer } from '../lib/once-per.ts';
import { presentListed, storedReport } from '../mailtests/present.ts';
import { findTest } from '../mailtests/queries.ts';
import { redactStoredReport } from '../report/redact.ts';
import { TOO_MANY_REPORTS } from '../report/renderer.ts';
import type { Rendered, ReportFormat, SharedReport, StoredShare } from '../report/report.ts';
import type { SharedReportRow, TestRow } from '../store/tables.generated.ts';
import { sharedTestIds, stateOfTests } from './queries.ts';
import { PublicTest } from './schema.ts';

export type ShareForm = ReportFormat | 'json';

interface Forms {
  kept: KeptForms;
  /** By what they are kept by. */
  underWay: Map<string, Promise<Rendered>>;
  /** The end of the last JSON, and how many are being made or wait: one after the other, as in the render thread. */
  lastJson: Promise<unknown>;
  jsons: number;
}

const forms = oncePer(
  (app: App): Forms => ({
    kept: createKeptForms(app.clock),
    underWay: new Map(),
    lastJson: Promise.resolve(),
    jsons: 0,
  }),
);

/** So that a link, in the hands of a crowd, leaves room for the reports of others. Rejects as the reporter does. */
export async function renderShare(
  app: App,
  row: SharedReportRow,
  form: ShareForm,
): Promise<Rendered> {
  const { kept, underWay } = forms(app);
  const key = await keyOf(app, row, form);
  const present = kept.get(key) ?? underWay.get(key);
  if (present) return present;
  const making = make(app, row, form)
    .then((rendered) => {
      kept.keep(key, rendered);
      return rendered;
    })
    .finally(() => underWay.delete(key));
  underWay.set(key, making);
  return making;
}

/** null where it would have to be made first. */
export async function keptShare(
  app: App,
  row: SharedReportRow,
  form: ShareForm,
): Promise<Rendered | null> {
  return forms(app).kept.get(await keyOf(app, row, form));
}

/** Another once a test has been analysed again, renamed or deleted. */
async function keyOf({ db }: App, { id }: SharedReportRow, form: ShareForm): Promise<string> {
  return `${id} ${form} ${sha256(await stateOfTests(db, id))}`;
}

// Without the signal of one reader: others may wait for it too.
async function make(app: App, row: SharedReportRow, form: ShareForm): Promise<Rendered> {
  if (form !== 'json')
    return app.reporter.render({
      kind: 'shared',
      format: form,
      shared: () => sealedShare(app, row),
    });
  return { bytes: await inTurn(forms(app), () => publicJson(app, row)), policy: null };
}

const MOST_JSONS = 10;

async function inTurn<T>(lane: Forms, work: () => Promise<T>): Promise<T> {
  if (lane.jsons >= MOST_JSONS) throw new AppError('unavailable', TOO_MANY_REPORTS);
  lane.jsons += 1;
  const making = lane.lastJson.then(work);
  lane.lastJson = making.catch(() => {});
  try {
    return await making;
  } finally {
    lane.jsons -= 1;
  }
}

// What a link shows: its tests as strangers may see them, for the page and the PDF, and as JSON.

type Reading = Pick<App, 'db' | 'config'>;

/** For the render thread. */
async function sealedShare(app: Reading, row: SharedReportRow): Promise<StoredShare> {
  const { title, created_at, expires_at } = row;
  const reports: SharedReport[] = [];
  let missing = 0;
  for await (const test of testsOf(app, row))
    if (test) reports.push(sharedReport(test, app));
    else missing += 1;
  return { title, created_at, expires_at, reports, missing };
}

/** A `PublicReport`. Between two tests other requests have their turn: each may be large. */
export async function publicJson(app: Reading, row: SharedReportRow): Promise<Uint8Array> {
  const { title, created_at, expires_at } = row;
  const tests: Buffer[] = [];
  let deleted_tests = 0;
  for await (const test of testsOf(app, row)) {
    if (test) {
      const text = JSON.stringify(publicTest(test, app));
      tests.push(Buffer.from(tests.length === 0 ? text : `,${text}`));
    } else deleted_tests += 1;
    await nextTurn();
  }
  const object = 'public_report';
  const head = JSON.stringify({ object, title, created_at, expires_at, deleted_tests });
  return Buffer.concat([
    Buffer.from(`${head.slice(0, -1)},"tests":[`),
    ...tests,
    Buffer.from(']}'),
  ]);
}

/** One after the other in the order of the link; null for each that has been deleted. */
async function* testsOf({ db }: Reading, { id, livemode }: SharedReportRow) {
  const ids = (await sharedTestIds(db, [id])).get(id)!;
  for (const testId of ids) {
    const test = await findTest(db, testId, livemode === 1);
    yield test?.checks == null ? null : test;
  }
}

function sharedReport(row: TestRow, { config }: Reading): SharedReport {
  const { address, token, seed_addresses } = presentListed(row, config);
  const seeds = seed_addresses.map((seed) => seed.address);
  return { ...storedReport(row, { config }), conceal: [address, token, ...seeds] };
}

const declared = responseFilter(PublicTest);

/** What the list form and the report have beyond that is not declared, and stays behind. */
function publicTest(row: TestRow, app: Reading): unknown {
  const report = redactStoredReport(sharedReport(row, app));
  return declared({ ...presentListed(row, app.config), ...report });
}

// The last forms of shared reports, kept for a moment: whoever reads one again costs nothing.

/** What readers of one mail open within. */
const FORM_CACHE_MS = 60_000;
const MOST_FORMS = 40;
const MOST_BYTES = 64 * 1024 * 1024;

interface Kept {
  rendered: Rendered;
  until: number;
}

interface KeptForms {
  get(key: string): Rendered | null;
  /** What is too large for its place is not kept; for others the oldest make room. */
  keep(key: string, rendered: Rendered): void;
}

export function createKeptForms(clock: App['clock'], mostBytes = MOST_BYTES): KeptForms {
  const kept = new Map<string, Kept>();
  let bytes = 0;

  function drop(key: string): void {
    bytes -= kept.get(key)!.rendered.bytes.byteLength;
    kept.delete(key);
  }

  /** From the oldest on: each is kept as long as the others. */
  function dropEnded(): void {
    for (const [key, { until }] of kept)
      if (until <= clock.now()) drop(key);
      else return;
  }

  return {
    get(key) {
      dropEnded();
      return kept.get(key)?.rendered ?? null;
    },
    keep(key, rendered) {
      dropEnded();
      const size = rendered.bytes.byteLength;
      if (size > mostBytes) return;
      if (kept.has(key)) drop(key);
      for (const oldest of kept.keys()) {
        if (kept.size < MOST_FORMS && bytes + size <= mostBytes) break;
        drop(oldest);
      }
      kept.set(key, { rendered, until: clock.now() + FORM_CACHE_MS });
      bytes += size;
      // Nobody may come again to have it dropped.
      setTimeout(dropEnded, FORM_CACHE_MS + 1000).unref();
    },
  };
}
