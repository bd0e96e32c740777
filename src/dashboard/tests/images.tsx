/** The form in a report with which a member has the images of the message loaded. */

import { imageOperations } from '../../mailtests/image-routes.ts';
import { imagesPath } from '../../mailtests/report.ts';
import { seeOther } from '../frame/page.tsx';
import { form } from '../frame/page-route.ts';

const submitImages = form({
  path: imagesPath(':id'),
  operation: 'submitTestImages',
  role: 'member',
  summary: 'Load the images of a test',
  async handle(call) {
    const id = call.params.id!;
    await call.invoke(imageOperations.load, { params: { id } });
    return seeOther(`/tests/${id}#preview`);
  },
});

export const imagePages = [submitImages];
