/** The page on which a member lets an assistant use `/mcp`: the authorization endpoint of OAuth (RFC 6749 §3.1). */

import * as v from 'valibot';
import { type Actor, lowerRole, ROLES } from '../../http/actor.ts';
import { tagsToStore } from '../../http/limited.ts';
import { validate } from '../../http/parse.ts';
import { isLoopback } from '../../http/protected-resource.ts';
import { route } from '../../http/route.ts';
import { AppError, ERROR_STATUS } from '../../lib/errors.ts';
import {
  AuthorizationParameters,
  type AuthorizationRequest,
  allowClient,
  answerUrl,
  readAuthorizationRequest,
} from '../../oauth-server/authorization.ts';
import { requireLimitable } from '../../team/members.ts';
import { LimitTags } from '../../team/schema.ts';
import { HiddenFields } from '../frame/action.tsx';
import { Checkbox, catchErrors, FORM, Notice, Select } from '../frame/form.tsx';
import { pageResponse, seeOther } from '../frame/page.tsx';
import { page } from '../frame/page-route.ts';
import { PAGE_POLICY } from '../frame/policy.ts';
import { LimitField, readTags } from '../team/limit.tsx';
import { MODES, rolesUpTo } from '../team/roles.ts';

const PATH = '/oauth/authorize';

/** Browsers apply `form-action` to redirects after the form too: to the assistant. */
const POLICY = PAGE_POLICY.replace("form-action 'self'; ", '');

interface Consent {
  request: AuthorizationRequest;
  parameters: Record<string, string>;
  actor: Actor;
}

function Consent({ request: { client, redirect_uri }, parameters, actor }: Consent) {
  const target = new URL(redirect_uri);
  const isLocal = isLoopback(target);
  return (
    <>
      <p>
        “{client.name}” asks to use this service as {actor.email}. If you allow it, your browser
        returns to {isLocal ? 'a program on this device' : 'this site'}:
      </p>
      <p class="box">
        <strong class="redirect-host">{target.host}</strong>
      </p>
      <Notice tone="warn">
        {client.host === null
          ? 'The assistant registered itself: anyone can choose its name.'
          : `${client.host} describes the assistant.`}{' '}
        Allow it only if you have just added this service to{' '}
        {isLocal ? 'a program on this device' : `an assistant at ${target.host}`}.
      </Notice>
      <form method="post" action={PATH}>
        <HiddenFields fields={parameters} />
        <Select
          name="role"
          label="Role"
          hint="The most that it can do."
          options={rolesUpTo(actor.role)}
          value={lowerRole(actor.role, 'member')}
        />
        <LimitField limit={actor.tags} />
        <Select name="mode" label="Mode" options={MODES} value={actor.livemode ? 'live' : 'test'} />
        <Checkbox
          name="writes"
          label="Allow it to change settings"
          hint="For example, add domains, publish DNS records or create alert rules, if the role permits it."
          checked={false}
        />
        <button type="submit" class="submit" name="decision" value="allow">
          Allow
        </button>
        <button type="submit" class="submit secondary" name="decision" value="deny">
          Deny
        </button>
      </form>
      <p class="hint">
        You can disconnect it under <a href="/api-keys#assistants">API keys</a> at any time.
      </p>
    </>
  );
}

const show = page({
  path: PATH,
  operation: 'showConnectAssistant',
  limited: true,
  role: 'member',
  summary: 'Ask the member to connect an assistant',
  query: AuthorizationParameters,
  async handle({ app, actor, query }) {
    const { result: request, error } = await catchErrors(['malformed_request'], () =>
      readAuthorizationRequest(app, query),
    );
    if (error)
      return pageResponse({
        title: "The assistant can't be connected",
        status: ERROR_STATUS[error.code],
        children: <Notice tone="fail">{error.detail}</Notice>,
      });
    return pageResponse({
      title: `Connect “${request.client.name}”?`,
      policy: POLICY,
      headers: { 'cache-control': 'no-store' },
      children: <Consent request={request} parameters={query} actor={actor} />,
    });
  },
});

const Decision = v.object({
  ...AuthorizationParameters.entries,
  role: v.picklist(ROLES),
  mode: v.picklist(MODES.map(([mode]) => mode)),
  writes: v.optional(v.literal('on')),
  tags: v.optional(v.string()),
  decision: v.picklist(['allow', 'deny']),
});

const decide = route({
  method: 'POST',
  path: PATH,
  operation: 'submitConnectAssistant',
  limited: true,
  role: 'member',
  sessionOnly: true,
  writes: true,
  summary: 'Connect an assistant with the form',
  consumes: FORM,
  produces: ['text/html'],
  async handle(call) {
    const { app, actor, raw } = call;
    const form = Object.fromEntries(new URLSearchParams(new TextDecoder().decode(raw)));
    const { role, mode, writes, decision, tags: _, ...parameters } = validate(Decision, form);
    const request = await readAuthorizationRequest(app, parameters);
    if (actor.sessionId === null)
      throw new AppError('forbidden', 'Only a member in a browser can connect an assistant.');
    const tags = validate(v.strictObject({ tags: LimitTags }), {
      tags: readTags(form.tags ?? ''),
    }).tags;
    requireLimitable(role, tags);
    if (tags) tagsToStore(actor, tags);
    const permissions = { role, livemode: mode === 'live', writes: writes === 'on', tags };
    const answer = await call.transact(async (tx, current) =>
      decision === 'allow'
        ? allowClient(tx, call, current.role, request, permissions)
        : { error: 'access_denied' },
    );
    return seeOther(answerUrl(app, request, answer));
  },
});

export const connectAssistantPages = [show, decide];
