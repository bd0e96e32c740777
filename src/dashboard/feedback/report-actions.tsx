/** What members do with a report: trust its reporter, stop trusting it, and delete the report. */

import { feedbackOperations } from '../../feedback/routes.ts';
import { readForm, submit } from '../frame/form.tsx';
import { seeOther } from '../frame/page.tsx';
import { form } from '../frame/page-route.ts';
import { REPORTS } from './list.tsx';
import { renderReport } from './report.tsx';

const trust = form({
  path: `${REPORTS}/:id/trust`,
  operation: 'submitReporterTrust',
  role: 'member',
  summary: 'Trust the reporter of a report with the form',
  handle: (call) => changeTrust(call, true),
});

const distrust = form({
  path: `${REPORTS}/:id/distrust`,
  operation: 'submitReporterDistrust',
  role: 'member',
  summary: 'Stop trusting the reporter of a report with the form',
  handle: (call) => changeTrust(call, false),
});

type FormCall = Parameters<typeof renderReport>[0] & { raw: Uint8Array };

async function changeTrust(call: FormCall, trusted: boolean) {
  const id = call.params.id!;
  const reporter = readForm(call.raw)('reporter_id');
  const { problem } = await submit({}, () =>
    call.invoke(feedbackOperations.updateReporter, {
      params: { id: reporter },
      body: { trusted },
    }),
  );
  if (problem) return renderReport(call, { problem });
  return seeOther(`${REPORTS}/${id}?done=${trusted ? 'trusted' : 'distrusted'}`);
}

const remove = form({
  path: `${REPORTS}/:id/delete`,
  operation: 'submitReportDeletion',
  role: 'member',
  summary: 'Delete a report with the form',
  async handle(call) {
    const { problem } = await submit({}, () =>
      call.invoke(feedbackOperations.remove, { params: { id: call.params.id! } }),
    );
    return problem ? renderReport(call, { problem }) : seeOther(`${REPORTS}?done=deleted`);
  },
});

export const reportActions = [trust, distrust, remove];
