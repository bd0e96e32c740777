/** Leaving the team, which everyone except the owner can do. */

import { clearedSessionCookie } from '../../http/cookies.ts';
import { invalidParams } from '../../lib/errors.ts';
import { memberOperations } from '../../team/member-routes.ts';
import { Confirm } from '../frame/action.tsx';
import { Card } from '../frame/card.tsx';
import { readForm } from '../frame/form.tsx';
import { seeOther } from '../frame/page.tsx';
import { form } from '../frame/page-route.ts';

const PATH = '/account/leave';

export function LeaveTeam() {
  return (
    <Card title="Leave the team" id="leave">
      <p>You lose access to everything here. Tests, domains and monitors that you created stay.</p>
      <Confirm
        action={PATH}
        fields={{ confirmed: 'yes' }}
        label="Leave…"
        warning="Your sessions, API keys and connected assistants end immediately. To come back, you need a new invitation."
        confirm="Leave the team"
      />
    </Card>
  );
}

const leave = form({
  path: PATH,
  operation: 'submitLeave',
  limited: true,
  role: 'viewer',
  summary: 'Leave the team with the button',
  async handle(call) {
    if (readForm(call.raw)('confirmed') !== 'yes')
      throw invalidParams([
        { param: 'confirmed', code: 'required', message: 'must be sent with the form' },
      ]);
    await call.invoke(memberOperations.remove, { params: { id: call.actor.memberId } });
    call.setHeader('set-cookie', clearedSessionCookie(call.app.config));
    return seeOther('/sign-in?done=left');
  },
});

export const leavePages = [leave];
