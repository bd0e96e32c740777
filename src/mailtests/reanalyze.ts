/** The operation that has a message analysed again. */

import { route } from '../http/route.ts';
import { isoTime } from '../lib/clock.ts';
import { AppError } from '../lib/errors.ts';
import { standing } from '../team/permissions.ts';
import { ANALYZE_JOB } from './jobs.ts';
import { presentTest } from './present.ts';
import { changeTest } from './queries.ts';
import { Test } from './schema.ts';
import { testOr404 } from './test-or-404.ts';

export const reanalyze = route({
  method: 'POST',
  path: '/v1/tests/:id/reanalyze',
  operation: 'reanalyzeTest',
  role: 'member',
  summary: 'Analyse the same message again, against the DNS and the rules of now',
  response: Test,
  errors: ['conflict'],
  async handle(call) {
    const { app, actor, params } = call;
    const test = await app.db.transaction().execute(async (tx) => {
      await standing(tx, call, 'member');
      const row = await testOr404({ db: tx }, params.id!, actor.livemode);
      if (row.status !== 'completed')
        throw new AppError(
          'conflict',
          `Only a completed test can be analysed again; this one is ${row.status}.`,
        );
      const due = { analysis_due_at: isoTime(app.clock.now()), analysis_attempts: 0 };
      await changeTest(tx, row, due);
      const presented = presentTest(row, app.config);
      await call.keep(tx, presented);
      return presented;
    });
    app.scheduler.wake(ANALYZE_JOB);
    return test;
  },
});
