/** The form in a report with which a member chooses the kind of mail. */

import { kindPath } from '../../mailtests/report.ts';
import { testOperations } from '../../mailtests/routes.ts';
import type { KINDS } from '../../mailtests/schemas/kind.ts';
import { readForm } from '../frame/form.tsx';
import { form } from '../frame/page-route.ts';
import { afterReanalysis } from './actions.tsx';

const submitKind = form({
  path: kindPath(':id'),
  operation: 'submitTestKind',
  limited: true,
  role: 'member',
  summary: 'Choose the kind of mail of a test and reanalyze it',
  async handle(call) {
    const id = call.params.id!;
    const kind = readForm(call.raw)('kind') as (typeof KINDS)[number];
    await call.invoke(testOperations.reanalyze, { params: { id }, body: { kind } });
    return afterReanalysis(call, id);
  },
});

export const kindPages = [submitKind];
