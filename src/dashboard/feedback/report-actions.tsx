/** What members do with a report: confirm its reporter, withdraw that, and delete the report. */

import { feedbackOperations } from '../../feedback/routes.ts';
import { readForm, submit } from '../frame/form.tsx';
import { seeOther } from '../frame/page.tsx';
import { form } from '../frame/page-route.ts';
import { REPORTS } from './list.tsx';
import { renderReport } from './report.tsx';

const confirm = form({
  path: `${REPORTS}/:id/confirm`,
  operation: 'submitReporterConfirmation',
  role: 'member',
  summary: 'Confirm the reporter of a report with the form',
  handle: (call) => changeTrust(call, true),
});

const withdraw = form({
  path: `${REPORTS}/:id/withdraw`,
  operation: 'submitReporterWithdrawal',
  role: 'member',
  summary: 'Stop counting the reports of a reporter with the form',
  handle: (call) => changeTrust(call, false),
});

type FormCall = Parameters<typeof renderReport>[0] & { raw: Uint8Array };

async function changeTrust(call: FormCall, confirmed: boolean) {
  const id = call.params.id!;
  const reporter = readForm(call.raw)('reporter_id');
  const { problem } = await submit({}, () =>
    call.invoke(feedbackOperations.updateReporter, {
      params: { id: reporter },
      body: { confirmed },
    }),
  );
  if (problem) return renderReport(call, { problem });
  return seeOther(`${REPORTS}/${id}?done=${confirmed ? 'confirmed' : 'withdrawn'}`);
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

export const reportActions = [confirm, withdraw, remove];
