/** The page of a member: name and role, and removal. */

import type { InferInput } from 'valibot';
import { allows } from '../../http/actor.ts';
import { memberOperations } from '../../team/member-routes.ts';
import type { MemberPatch, TeamMember } from '../../team/schema.ts';
import { Confirm } from '../frame/action.tsx';
import { appPage, type PageCall } from '../frame/app-page.tsx';
import { Card, Facts } from '../frame/card.tsx';
import {
  type FormProblem,
  Notice,
  PageQuery,
  ProblemNotice,
  readForm,
  Select,
  submit,
  TextField,
} from '../frame/form.tsx';
import { operationForm } from '../frame/operation-form.ts';
import { seeOther } from '../frame/page.tsx';
import { form, page } from '../frame/page-route.ts';
import { tagLabels } from '../frame/tags-field.tsx';
import { Time } from '../frame/times.tsx';
import { ifUnchanged, VersionField, versionOf } from '../frame/version.tsx';
import { LimitField, readTags } from './limit.tsx';
import { canChange, ROLE_NAMES, ROLE_OPTIONS } from './roles.ts';
import { BothModes, memberPath, TEAM_PATH } from './team-page.tsx';

const PATH = `${TEAM_PATH}/members/:id`;

interface State {
  done?: string;
  values?: { name: string; role: string; tags: string };
  problem?: FormProblem | null;
}

const DONE_TEXTS: Record<string, string> = {
  saved: 'Changes saved.',
  role: 'Role changed. The member must sign in again.',
  unlinked: 'Account unlinked.',
};

async function render(call: PageCall, id: string, { done = '', values, problem = null }: State) {
  const { actor } = call;
  const member = await call.invoke(memberOperations.get, { params: { id } });
  const isAdmin = allows(actor.role, 'admin');
  const isChangeable = canChange(actor.role, member.role);
  return appPage(call, {
    suggestTags: true,
    title: member.name,
    section: 'team',
    path: memberPath(id),
    parents: [{ href: TEAM_PATH, text: 'Team' }],
    status: problem?.status,
    headers: problem?.headers,
    calls: [{ route: memberOperations.get, params: { id } }],
    children: (
      <>
        {Object.hasOwn(DONE_TEXTS, done) && <Notice tone="pass">{DONE_TEXTS[done]!}</Notice>}
        <Card>
          <Facts
            items={[
              ['Email address', member.email],
              ['Role', ROLE_NAMES[member.role]],
              ['Limited to tags', member.tags?.join(', ')],
              ['Joined', <Time key="joined" at={member.joined_at} />],
              [
                'Linked account',
                member.linked_account && (
                  <>
                    Since <Time at={member.linked_account.linked_at} />
                  </>
                ),
              ],
            ]}
          />
          <p class="links">
            {isAdmin && <a href={`/audit-log?member=${member.id}`}>Changes by this member</a>}
            {member.id === actor.memberId && <a href="/account">Your account</a>}
          </p>
        </Card>
        {isChangeable && <BothModes />}
        {isChangeable && <EditCard member={member} values={values} problem={problem} />}
        {member.linked_account && (isChangeable || (isAdmin && member.id === actor.memberId)) && (
          <UnlinkCard member={member} host={new URL(member.linked_account.issuer).host} />
        )}
        {isChangeable && member.id !== actor.memberId && <RemoveCard member={member} />}
      </>
    ),
  });
}

interface EditProps extends Pick<State, 'values'> {
  member: TeamMember;
  problem: FormProblem | null;
}

function EditCard({ member, values, problem }: EditProps) {
  return (
    <Card title="Name, role and limit" id="edit">
      <form method="post" action={memberPath(member.id)} class="fields">
        <ProblemNotice problem={problem} />
        <VersionField version={versionOf(memberOperations.get, member)} />
        <TextField
          name="name"
          label="Name"
          value={values?.name ?? member.name}
          error={problem?.fields.name}
          required
        />
        <Select
          name="role"
          label="Role"
          hint="A new role ends the member's sessions. Their API keys never have more permissions than their role."
          options={ROLE_OPTIONS}
          value={values?.role ?? member.role}
          error={problem?.fields.role}
        />
        <LimitField value={values?.tags ?? member.tags?.join(', ')} problem={problem} />
        <button type="submit" class="button primary">
          Save
        </button>
      </form>
    </Card>
  );
}

function RemoveCard({ member: { id, name } }: { member: TeamMember }) {
  return (
    <Card title="Remove from the team" id="remove">
      <p>Tests, domains and monitors that the member created stay.</p>
      <Confirm
        action={`${memberPath(id)}/remove`}
        label="Remove…"
        warning={
          <>
            The sessions, API keys and connected assistants of <bdi>{name}</bdi> end immediately,
            and their pending invitations are revoked. This cannot be undone.
          </>
        }
        confirm="Remove member"
      />
    </Card>
  );
}

function UnlinkCard({ member: { id, email }, host }: { member: TeamMember; host: string }) {
  return (
    <Card title="Linked account" id="unlink">
      <p>The member signs in with an account at {host}.</p>
      <Confirm
        action={`${memberPath(id)}/unlink`}
        label="Unlink…"
        warning={
          <>
            Unlink it if it was created again at the identity provider. The next account with the
            address <bdi>{email}</bdi> is then linked.
          </>
        }
        confirm="Unlink account"
      />
    </Card>
  );
}

const show = page({
  path: PATH,
  operation: 'showMember',
  role: 'member',
  summary: 'Show a member of the team',
  query: PageQuery,
  handle: (call) => render(call, call.params.id!, { done: call.query.done }),
});

const LABELS = { name: 'name', role: 'role' };

const update = form({
  path: PATH,
  operation: 'submitMember',
  role: 'admin',
  summary: 'Change a member with the form',
  async handle(call) {
    const id = call.params.id!;
    const field = readForm(call.raw);
    const values = { name: field('name'), role: field('role'), tags: field('tags') };
    const tags = readTags(values.tags);
    const before = await call.invoke(memberOperations.get, { params: { id } });
    const { problem } = await submit({ ...LABELS, ...tagLabels(tags ?? []) }, () =>
      call.invoke(memberOperations.update, {
        params: { id },
        headers: ifUnchanged(call.raw),
        body: { ...values, tags } as InferInput<typeof MemberPatch>,
      }),
    );
    if (problem) return render(call, id, { values, problem });
    return seeOther(`${memberPath(id)}?done=${before.role === values.role ? 'saved' : 'role'}`);
  },
});

const remove = operationForm({
  path: `${PATH}/remove`,
  operation: 'submitMemberRemoval',
  role: 'admin',
  summary: 'Remove a member with the button',
  route: memberOperations.remove,
  next: () => `${TEAM_PATH}?done=removed`,
});

const unlink = operationForm({
  path: `${PATH}/unlink`,
  operation: 'submitMemberUnlink',
  role: 'admin',
  summary: 'Unlink the account of a member with the button',
  route: memberOperations.unlink,
  next: ({ id }) => `${memberPath(id)}?done=unlinked`,
});

export const memberPages = [show, update, remove, unlink];
