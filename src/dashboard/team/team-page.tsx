/** Renders the page of the team: members, open invitations, and the transfer of ownership. */

import { allows } from '../../http/actor.ts';
import { invitationOperations } from '../../team/invitation-routes.ts';
import { memberOperations } from '../../team/member-routes.ts';
import type { TeamMember } from '../../team/schema.ts';
import { Confirm } from '../frame/action.tsx';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import { type FormProblem, Notice, ProblemNotice, Select, TextField } from '../frame/form.tsx';
import { useReader } from '../frame/reader.tsx';
import { DataTable } from '../frame/table.tsx';
import { Ago } from '../frame/times.tsx';
import {
  InvitationCards,
  type InvitationState,
  listOpenInvitations,
  NewLink,
} from './invitations.tsx';
import { LeaveTeam } from './leave.tsx';
import { LimitNote } from './limit.tsx';
import { ROLE_NAMES } from './roles.ts';

export const TEAM_PATH = '/team';
export const memberPath = (id: string): string => `${TEAM_PATH}/members/${encodeURIComponent(id)}`;

/** Notices, by the action that redirected here. */
const DONE_TEXTS: Record<string, string> = {
  removed: 'Member removed. Their sessions have ended, and their API keys no longer work.',
  revoked: 'Invitation revoked. Its link no longer works.',
};

interface TransferState {
  values?: { member: string; confirmation: string };
  problem: FormProblem | null;
}

interface State {
  done?: string;
  invitation?: InvitationState;
  transfer?: TransferState;
}

export async function renderTeam(call: PageCall, state: State) {
  const { app, actor } = call;
  const isAdmin = allows(actor.role, 'admin');
  const { data: members } = await call.invoke(memberOperations.list);
  const invitations = isAdmin ? await listOpenInvitations(call, members) : [];
  const { done = '', invitation = {}, transfer = { problem: null } } = state;
  const problem = invitation.problem ?? invitation.listProblem ?? transfer.problem;
  const others = members.filter(({ id }) => id !== actor.memberId);
  return appPage(call, {
    suggestTags: true,
    title: 'Team',
    section: 'team',
    path: TEAM_PATH,
    status: problem?.status,
    headers: problem?.headers,
    actions: isAdmin && (
      <a class="button primary" href="#invite">
        Invite someone
      </a>
    ),
    calls: [
      { route: memberOperations.list },
      ...(isAdmin
        ? [{ route: invitationOperations.list, query: { status: 'pending' } as const }]
        : []),
    ],
    children: (
      <>
        {Object.hasOwn(DONE_TEXTS, done) && <Notice tone="pass">{DONE_TEXTS[done]!}</Notice>}
        {invitation.created && <NewLink {...invitation.created} />}
        {invitation.listProblem && <ProblemNotice problem={invitation.listProblem} />}
        <BothModes />
        <MemberTable members={members} ownId={actor.memberId} />
        {isAdmin && (
          <InvitationCards
            invitations={invitations}
            state={invitation}
            isMailSetUp={app.mailer !== null}
          />
        )}
        {actor.role === 'owner' && <TransferCard members={others} {...transfer} />}
        {actor.role !== 'owner' && <LeaveTeam />}
      </>
    ),
  });
}

/** In test mode, says that it ends here. */
export const BothModes = () =>
  useReader().testMode ? (
    <Notice tone="info">
      The team is the same in live mode and in test mode. Your changes apply to both.
    </Notice>
  ) : null;

function MemberTable({ members, ownId }: { members: TeamMember[]; ownId: string }) {
  return (
    <DataTable
      label="Members"
      rows={members}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => memberPath(id)}
      columns={[
        {
          title: 'Member',
          cell: ({ id, name, email }) => (
            <>
              <bdi>{name}</bdi>
              {id === ownId && <span class="tag you">You</span>}
              <span class="row-note">{email}</span>
            </>
          ),
        },
        {
          title: 'Role',
          cell: ({ role, tags }) => (
            <>
              <span class="nowrap">{ROLE_NAMES[role]}</span>
              <LimitNote tags={tags} />
            </>
          ),
        },
        { title: 'Joined', cell: ({ joined_at }) => <Ago at={joined_at} />, wide: true },
      ]}
    />
  );
}

function TransferCard({ members, values, problem }: TransferState & { members: TeamMember[] }) {
  return (
    <Card title="Ownership" id="ownership">
      <p>
        A team has one owner. The owner can do everything, and is the only one who can change
        admins.
      </p>
      {members.length === 0 ? (
        <p class="muted">To transfer ownership, invite someone first.</p>
      ) : (
        <Confirm
          action={`${TEAM_PATH}/transfer`}
          label="Transfer ownership…"
          warning="The new owner can remove you. You become an admin, both of you must sign in again, and you can't undo this."
          confirm="Transfer ownership"
          open={problem !== null}
        >
          <ProblemNotice problem={problem} />
          <Select
            name="member"
            label="New owner"
            options={members.map(({ id, name, email }): [string, string] => [
              id,
              `${name} (${email})`,
            ])}
            value={values?.member}
            error={problem?.fields.member}
          />
          <TextField
            name="confirmation"
            label="Email address of the new owner"
            hint="Type it to confirm."
            type="email"
            value={values?.confirmation}
            error={problem?.fields.confirmation}
            required
          />
        </Confirm>
      )}
    </Card>
  );
}
