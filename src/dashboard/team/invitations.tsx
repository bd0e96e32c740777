/** Parts of the page of the team: open invitations, the form, and the link that is shown once. */

import { invitationOperations } from '../../team/invitation-routes.ts';
import type { TeamInvitation, TeamMember } from '../../team/schema.ts';
import { Copyable, StateMark } from '../../ui/components.tsx';
import { ActionButton, Confirm } from '../frame/action.tsx';
import type { PageCall } from '../frame/app-page.tsx';
import { Card } from '../frame/card.tsx';
import { type FormProblem, ProblemNotice, Select, TextField } from '../frame/form.tsx';
import { NotSetUp, Waiting } from '../frame/states.tsx';
import { DataTable } from '../frame/table.tsx';
import { Ago } from '../frame/times.tsx';
import { LimitField } from './limit.tsx';
import { ROLE_NAMES, ROLE_OPTIONS } from './roles.ts';

export const INVITATION_PATH = '/team/invitations';

export interface InvitationState {
  /** What was typed. */
  values?: { email: string; role: string; tags: string };
  /** A problem of the form. */
  problem?: FormProblem | null;
  /** A problem of a button in the list. */
  listProblem?: FormProblem | null;
  /** The new invitation. */
  created?: LinkProps;
}

interface LinkProps {
  email: string;
  url: string;
  isMailed: boolean;
}

/** Pending invitations, and expired ones whose address was neither invited again nor joined. */
export async function listOpenInvitations(
  call: PageCall,
  members: TeamMember[],
): Promise<TeamInvitation[]> {
  const listOf = async (status: 'pending' | 'expired', limit: string) =>
    (await call.invoke(invitationOperations.list, { query: { status, limit } })).data;
  const pending = await listOf('pending', '100');
  const settled = new Set([...pending, ...members].map(({ email }) => email));
  const expired = (await listOf('expired', '20')).filter(({ email }) => {
    const isNews = !settled.has(email);
    settled.add(email);
    return isNews;
  });
  return [...pending, ...expired];
}

interface CardsProps {
  invitations: TeamInvitation[];
  state: InvitationState;
  isMailSetUp: boolean;
}

export function InvitationCards({ invitations, state, isMailSetUp }: CardsProps) {
  const { values, problem = null } = state;
  return (
    <>
      {invitations.length > 0 && (
        <Card title="Open invitations" id="invitations">
          <div class="stacked">
            <InvitationTable invitations={invitations} />
          </div>
        </Card>
      )}
      <Card title="Invite someone" id="invite">
        <form method="post" action={INVITATION_PATH} class="fields">
          <ProblemNotice problem={problem} />
          <p class="muted">
            {isMailSetUp
              ? 'They get an email with a link to join. The link expires after seven days.'
              : "This server doesn't send email, so you get a link to share. The link expires after seven days."}
          </p>
          <TextField
            name="email"
            label="Email address"
            type="email"
            value={values?.email}
            error={problem?.fields.email}
            focus={problem !== null}
            required
          />
          <Select
            name="role"
            label="Role"
            hint="Viewers see no domains. For a client with a table of their domains, choose Member and a tag."
            options={ROLE_OPTIONS}
            value={values?.role ?? 'member'}
            error={problem?.fields.role}
          />
          <LimitField value={values?.tags} problem={problem} />
          <button type="submit" class="button primary">
            {isMailSetUp ? 'Send invitation' : 'Create invitation link'}
          </button>
        </form>
      </Card>
    </>
  );
}

function InvitationTable({ invitations }: { invitations: TeamInvitation[] }) {
  return (
    <DataTable
      label="Open invitations"
      rows={invitations}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Email address',
          cell: ({ email, role, tags, status, expires_at }) => (
            <>
              <strong>{email}</strong>
              <span class="row-note">
                {ROLE_NAMES[role]}
                {tags && ` · only ${tags.join(', ')}`}
                <span class="narrow">
                  {', '}
                  {status === 'expired' ? 'expired ' : 'expires '}
                  <Ago at={expires_at} />
                </span>
              </span>
            </>
          ),
        },
        { title: 'Email', cell: (invitation) => <MailState {...invitation} />, wide: true },
        {
          title: 'Expires',
          cell: ({ status, expires_at }) =>
            status === 'expired' ? (
              <StateMark state="warn" word="Expired" />
            ) : (
              <Ago at={expires_at} />
            ),
          wide: true,
        },
        {
          title: 'Actions',
          hiddenTitle: true,
          cell: (invitation) => <Actions {...invitation} />,
        },
      ]}
    />
  );
}

function MailState({ email_status }: TeamInvitation) {
  switch (email_status) {
    case 'not_configured':
      return <NotSetUp>No email sent</NotSetUp>;
    case 'queued':
      return <Waiting>Waiting to be sent</Waiting>;
    case 'sent':
      return <StateMark state="pass" word="Sent" />;
    case 'failed':
      return <StateMark state="fail" word="Not delivered" />;
  }
}

function Actions({ id, email, role, tags, status }: TeamInvitation) {
  if (status === 'expired')
    return (
      <div class="actions">
        <ActionButton
          action={INVITATION_PATH}
          fields={{ email, role, tags: tags?.join(', ') ?? '' }}
        >
          Invite again
        </ActionButton>
      </div>
    );
  return (
    <div class="actions">
      <ActionButton action={`${INVITATION_PATH}/${id}/resend`}>Create new link</ActionButton>
      <Confirm
        action={`${INVITATION_PATH}/${id}/revoke`}
        label="Revoke…"
        warning={`The link of ${email} stops working.`}
        confirm="Revoke invitation"
      />
    </div>
  );
}

/** The link of a new invitation. No other page shows it. */
export function NewLink({ email, url, isMailed }: LinkProps) {
  return (
    <Card title={isMailed ? `Invitation to ${email} is on its way` : `Send this link to ${email}`}>
      <p>
        {isMailed
          ? "If the email doesn't arrive, send this link yourself. It is shown only once, and anyone who opens it can join."
          : 'It is shown only once, and anyone who opens it can join.'}
      </p>
      <div class="box">
        <Copyable text={url} label="the invitation link" />
      </div>
    </Card>
  );
}
