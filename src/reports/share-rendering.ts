/** Shared reports in their forms: however many read one, at the same moment or soon after, it is made once for all of them. */

import type { App } from '../app.ts';
import { sha256 } from '../lib/crypto.ts';
import { AppError } from '../lib/errors.ts';
import type { Rendered, ReportFormat } from '../render/thread/job.ts';
import type { SharedReportRow } from '../store/report-tables.ts';
import { publicJson, sealedShare } from './share-content.ts';
import { createKeptForms, type KeptForms } from './share-kept-forms.ts';
import { stateOfTests } from './share-queries.ts';

export type ShareForm = ReportFormat | 'json';

interface Forms {
  kept: KeptForms;
  /** By what they are kept by. */
  underWay: Map<string, Promise<Rendered>>;
  /** The end of the last JSON, and how many are being made or wait: one after the other, as in the render thread. */
  lastJson: Promise<unknown>;
  jsons: number;
}

const formsOf = new WeakMap<App, Forms>();

function forms(app: App): Forms {
  const present = formsOf.get(app) ?? {
    kept: createKeptForms(app.clock),
    underWay: new Map(),
    lastJson: Promise.resolve(),
    jsons: 0,
  };
  formsOf.set(app, present);
  return present;
}

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
  if (lane.jsons >= MOST_JSONS)
    throw new AppError('unavailable', 'Too many reports are being made now. Try again soon.');
  lane.jsons += 1;
  const making = lane.lastJson.then(work);
  lane.lastJson = making.catch(() => {});
  try {
    return await making;
  } finally {
    lane.jsons -= 1;
  }
}
