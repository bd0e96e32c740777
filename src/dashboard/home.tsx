/** The first page: who is signed in. */

import { route } from '../http/route.ts';
import { findMember } from '../team/members.ts';
import { Submit } from './form.tsx';
import { PageQuery } from './form-body.ts';
import { pageResponse, seeOther } from './page.tsx';
import { signedIn } from './signed-in.ts';

const show = route({
  method: 'GET',
  path: '/',
  operation: 'showHome',
  role: 'public',
  summary: 'The first page',
  query: PageQuery,
  produces: ['text/html'],
  async handle(call) {
    const actor = await signedIn(call);
    const member = actor && (await findMember(call.app.db, actor.memberId));
    if (!member) return seeOther('/sign-in');
    const { name, email, role } = member;
    return pageResponse({
      title: 'You are signed in',
      children: (
        <>
          <p>
            You are signed in as <strong>{name}</strong> ({email}), {ROLE_WORDS[role]}.
          </p>
          <form method="post" action="/sign-out">
            <Submit secondary>Sign out</Submit>
          </form>
        </>
      ),
    });
  },
});

const ROLE_WORDS = {
  owner: 'the owner of the team',
  admin: 'an admin of the team',
  member: 'a member of the team',
  viewer: 'a viewer of the team',
};

export const homePages = [show];
