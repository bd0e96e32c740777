/** Sign-in with the ID tokens of real identity providers, as their documentation shows them. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { oidcStateCookie } from '../../src/team/oidc.ts';
import { getPage, mainOf } from '../dashboard/pages.ts';
import { startTestService } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { type ProviderOptions, startSigningProvider } from './signing-provider.ts';
import { membersOf } from './team-service.ts';

type Claims = Record<string, unknown>;

interface Shape extends ProviderOptions {
  name: string;
  /** The documentation of the token. */
  source: string;
  idToken: Claims;
  userinfo?: Claims;
  env?: Record<string, string>;
  /** The role of the person, who has no invitation, or the error. */
  result: string | RegExp;
}

const PERSON = { name: 'Mira Admin', given_name: 'Mira', family_name: 'Admin' };
const EMAIL = { email: 'mira@example.com' };
const TRUST = { DELIVERABILITY_OIDC_TRUST_EMAIL: 'true' };
const roles = (text: string) => ({ DELIVERABILITY_OIDC_ROLES: text });

const ENTRA = {
  path: '/9122040d-6c67-4c5b-b112-36a304b66dad/v2.0',
  source: 'https://learn.microsoft.com/entra/identity-platform/id-token-claims-reference',
  idToken: {
    ver: '2.0',
    tid: '9122040d-6c67-4c5b-b112-36a304b66dad',
    oid: '00000000-0000-0000-66f3-3332eca7ea81',
    preferred_username: 'mira@example.com',
    name: PERSON.name,
    aio: 'Df2UVXL1ix!lMCWMSOJBcFatzcGfvFGhjKv8q5g0x732dR5MB5BisvGQO7YWByjd8iQDLq!eGbIDakyp5mnOrcdqHeYSnltepQmRp6AIZ8jY',
  },
  // https://learn.microsoft.com/entra/identity-platform/userinfo
  userinfo: { ...PERSON, ...EMAIL, picture: 'https://graph.microsoft.com/v1.0/me/photo/$value' },
} satisfies Partial<Shape>;
const GROUP = '0760b6cf-170e-4a14-91b3-4b78e0739963';
const OVERAGE = {
  _claim_names: { groups: 'src1' },
  _claim_sources: {
    src1: { endpoint: 'https://graph.windows.net/9122040d/users/66f3/getMemberObjects' },
  },
};

const AUTHENTIK = {
  path: '/application/o/deliverability/',
  source: 'https://docs.goauthentik.io/add-secure-apps/providers/property-mappings/',
  idToken: {
    ...EMAIL,
    acr: 'goauthentik.io/providers/oauth2/default',
    amr: ['pwd'],
    sid: 'd29c0cb2f15fbfbdb0b8ec5e1d0e3b08',
    // Since 2025.10: https://docs.goauthentik.io/add-secure-apps/providers/oauth2/verify-email-address/
    email_verified: false,
    name: PERSON.name,
    given_name: PERSON.name,
    preferred_username: 'mira',
    nickname: 'mira',
    groups: ['authentik Admins', 'Mail operators'],
  },
} satisfies Partial<Shape>;

const ZITADEL_ROLES = 'urn:zitadel:iam:org:project:roles';
const COGNITO = {
  path: '/eu-central-1_Example',
  source:
    'https://docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-the-id-token.html',
  idToken: {
    'cognito:groups': ['mail-admins', 'staff'],
    'cognito:username': 'mira',
    origin_jti: 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee',
    event_id: '64f513be-32db-42b0-b78e-b02127b4f463',
    token_use: 'id',
  },
} satisfies Partial<Shape>;

const SHAPES: Shape[] = [
  {
    ...ENTRA,
    name: 'Entra with the optional claims email, xms_edov and groups',
    idToken: { ...ENTRA.idToken, ...EMAIL, xms_edov: true, groups: [GROUP] },
    env: roles(`groups=${GROUP}:admin`),
    result: 'admin',
  },
  {
    ...ENTRA,
    name: 'Entra with xms_edov as text',
    idToken: { ...ENTRA.idToken, ...EMAIL, xms_edov: '1', roles: ['Mail.Member'] },
    env: roles('roles=Mail.Member:member'),
    result: 'member',
  },
  {
    ...ENTRA,
    name: 'Entra with xms_edov false',
    idToken: { ...ENTRA.idToken, ...EMAIL, xms_edov: false },
    result: /hasn't verified mira@example\.com.*DELIVERABILITY_OIDC_TRUST_EMAIL/,
  },
  {
    ...ENTRA,
    name: 'Entra without optional claims',
    result:
      /the claim email_verified is missing, or xms_edov for Microsoft Entra\..*set DELIVERABILITY_OIDC_TRUST_EMAIL/,
  },
  {
    ...ENTRA,
    name: 'Entra without a mailbox',
    userinfo: PERSON,
    result:
      /the claim email is missing.*set DELIVERABILITY_OIDC_TRUST_EMAIL to use preferred_username/,
  },
  {
    ...ENTRA,
    name: 'Entra without a mailbox, with the variable',
    userinfo: PERSON,
    idToken: { ...ENTRA.idToken, groups: [GROUP] },
    env: { ...TRUST, ...roles(`groups=${GROUP}:viewer`) },
    result: 'viewer',
  },
  {
    ...ENTRA,
    name: 'Entra with more than 200 groups',
    idToken: { ...ENTRA.idToken, ...EMAIL, xms_edov: true, ...OVERAGE },
    env: roles(`groups=${GROUP}:admin`),
    result: /too many groups, so your identity provider left out groups \(_claim_names\)/,
  },
  {
    name: 'Entra with the issuer of all tenants',
    source: 'https://learn.microsoft.com/entra/identity-platform/v2-protocols-oidc',
    path: '/common/v2.0',
    named: (issuer) => issuer.replace('common', '{tenantid}'),
    idToken: ENTRA.idToken,
    result:
      /calls itself http:\/\/127\.0\.0\.1:\d+\/\{tenantid\}\/v2\.0.*must set the URL of your own tenant/,
  },
  {
    name: 'Google Workspace',
    source:
      'https://developers.google.com/identity/openid-connect/openid-connect#an-id-tokens-payload',
    idToken: {
      ...PERSON,
      ...EMAIL,
      azp: 'deliverability',
      at_hash: 'HK6E_P6Dh8Y93mRNtsDB1Q',
      hd: 'example.com',
      email_verified: true,
      picture: 'https://lh3.googleusercontent.com/a/photo=s96-c',
    },
    userinfo: {},
    env: roles('hd=example.com:member'),
    result: 'member',
  },
  {
    name: 'Google account outside of the Workspace',
    source:
      'https://developers.google.com/identity/openid-connect/openid-connect#an-id-tokens-payload',
    idToken: { ...PERSON, email: 'eve@gmail.com', email_verified: true },
    userinfo: {},
    env: roles('hd=example.com:member'),
    result: /eve@gmail\.com is not on the team\..*claim hd has a role in DELIVERABILITY_OIDC_ROLES/,
  },
  {
    name: 'Keycloak with full group paths',
    source: 'https://www.keycloak.org/docs/latest/server_admin/#_protocol-mappers',
    path: '/realms/example',
    idToken: {
      ...PERSON,
      ...EMAIL,
      typ: 'ID',
      azp: 'deliverability',
      acr: '1',
      sid: '3f2a9f0e-1a5f-4e8e-b9c8-0d4e3e0a9d52',
      email_verified: true,
      preferred_username: 'mira',
      groups: ['/staff', '/ops/mail admins'],
    },
    userinfo: {},
    env: roles('groups=/staff:viewer, groups=/ops/mail admins:admin'),
    result: 'admin',
  },
  {
    ...AUTHENTIK,
    name: 'authentik with its default mapping',
    result: /says that it hasn't verified mira@example\.com.*DELIVERABILITY_OIDC_TRUST_EMAIL/,
  },
  {
    ...AUTHENTIK,
    name: 'authentik with its default mapping and the variable',
    env: { ...TRUST, ...roles('groups=Mail operators:admin') },
    result: 'admin',
  },
  {
    ...AUTHENTIK,
    name: 'authentik with a mapping that verifies addresses',
    idToken: { ...AUTHENTIK.idToken, email_verified: true },
    env: roles('groups=authentik Admins:admin'),
    result: 'admin',
  },
  {
    name: 'Okta with the scope groups',
    source:
      'https://developer.okta.com/docs/api/openapi/okta-oauth/guides/overview/#id-token-payload',
    claimScopes: { groups: 'groups' },
    idToken: {
      ...EMAIL,
      name: PERSON.name,
      ver: 1,
      jti: 'ID.LPQaDhnBhZ9wy-B5BvamTBs7E2C8EzXuLA5P8Uyx-IE',
      amr: ['pwd'],
      idp: '00oixa26ycdNcX0VT0h7',
      preferred_username: 'mira@example.com',
      groups: ['Everyone', 'Mail Admins'],
    },
    // Only the userinfo endpoint says whether the address is verified.
    userinfo: { ...PERSON, ...EMAIL, zoneinfo: 'America/Los_Angeles', email_verified: true },
    env: {
      ...roles('groups=Mail Admins:admin'),
      DELIVERABILITY_OIDC_SCOPES: 'openid email profile groups',
    },
    result: 'admin',
  },
  {
    name: 'Auth0, whose issuer ends with a slash, with a claim named as a URL',
    source: 'https://auth0.com/docs/secure/tokens/id-tokens/id-token-structure',
    path: '/',
    idToken: {
      ...EMAIL,
      name: PERSON.name,
      nickname: 'mira',
      picture: 'https://s.gravatar.com/avatar/0.png',
      updated_at: '2026-11-20T09:12:00.000Z',
      email_verified: true,
      sid: 'sid-1',
      'https://example.com/roles': ['mail-admin'],
    },
    userinfo: {},
    env: roles('https://example.com/roles=mail-admin:admin'),
    result: 'admin',
  },
  {
    name: 'Zitadel, whose roles are an object and whose ID token has no address',
    source: 'https://zitadel.com/docs/apis/openidoauth/claims',
    idToken: {
      aud: ['deliverability', '170086774599581953'],
      azp: 'deliverability',
      client_id: 'deliverability',
      amr: ['pwd'],
      [ZITADEL_ROLES]: { 'mail-admin': { '170085863898152193': 'example.zitadel.cloud' } },
    },
    userinfo: { ...PERSON, ...EMAIL, email_verified: true, preferred_username: 'mira@example.com' },
    env: roles(`${ZITADEL_ROLES}=mail-admin:admin`),
    result: 'admin',
  },
  {
    ...COGNITO,
    name: 'Cognito with the address in the ID token',
    idToken: { ...COGNITO.idToken, ...EMAIL, email_verified: true },
    env: roles('cognito:groups=staff:viewer,cognito:groups=mail-admins:admin'),
    result: 'admin',
  },
  {
    ...COGNITO,
    name: 'Cognito, whose userinfo endpoint says "true" as text',
    // https://docs.aws.amazon.com/cognito/latest/developerguide/userinfo-endpoint.html
    userinfo: { ...EMAIL, email_verified: 'true', username: 'mira' },
    env: roles('cognito:groups=staff:viewer'),
    result: 'viewer',
  },
  {
    ...COGNITO,
    name: 'Cognito, whose userinfo endpoint says "false" as text',
    userinfo: { ...EMAIL, email_verified: 'false', username: 'mira' },
    result: /hasn't verified mira@example\.com/,
  },
];

async function signInAt(t: TestContext, shape: Shape) {
  const provider = await startSigningProvider(t, shape);
  provider.person = {
    sub: `${shape.name} 1`,
    idToken: shape.idToken,
    ...(shape.userinfo && { userinfo: shape.userinfo }),
  };
  const service = await startTestService(t, {
    clock: testClock(Date.now()),
    env: { ...provider.env, ...shape.env },
  });
  const started = await getPage(service, '/sign-in/oidc');
  if (started.status !== 303) return { service, page: started };
  const { pathname, search } = await provider.pass(started.location!);
  const page = await getPage(service, pathname + search, { cookie: started.cookie! });
  return { service, page };
}

for (const shape of SHAPES)
  test(`Single sign-on: ${shape.name}`, async (t) => {
    const { service, page } = await signInAt(t, shape);
    const added = (await membersOf(service)).filter(({ role }) => role !== 'owner');
    if (typeof shape.result === 'string') {
      assert.equal(page.status, 303, page.html && mainOf(page.html));
      assert.deepEqual(
        added.map(({ email, role, name }) => [email, role, name]),
        [['mira@example.com', shape.result, added[0]!.name]],
      );
    } else {
      assert.ok([403, 503].includes(page.status));
      assert.match(mainOf(page.html).replace(/\s+/g, ' '), shape.result);
      assert.deepEqual(added, []);
    }
  });

test('With the issuer of all tenants, the service starts, and single sign-on names the tenant to set', async (t) => {
  const issuer = 'https://login.microsoftonline.com/common/v2.0';
  // The metadata of the real one, for which the library makes an exception.
  const metadata = {
    issuer: issuer.replace('common', '{tenantid}'),
    authorization_endpoint: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
    token_endpoint: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
    jwks_uri: 'https://login.microsoftonline.com/common/discovery/v2.0/keys',
  };
  const realFetch = globalThis.fetch;
  t.mock.method(globalThis, 'fetch', ((url: string, init) =>
    String(url) === `${issuer}/.well-known/openid-configuration`
      ? Promise.resolve(Response.json(metadata))
      : realFetch(url, init)) as typeof fetch);
  const service = await startTestService(t, {
    env: {
      DELIVERABILITY_OIDC_ISSUER: issuer,
      DELIVERABILITY_OIDC_CLIENT_ID: 'id',
      DELIVERABILITY_OIDC_CLIENT_SECRET: 'secret',
    },
  });
  for (const path of ['', '/callback?code=x&state=x']) {
    const state = { state: 'x', nonce: 'x', verifier: 'x' };
    const [cookie] = oidcStateCookie(service.app, state).split(';');
    const page = await getPage(service, `/sign-in/oidc${path}`, { cookie: cookie! });
    assert.equal(page.status, 503);
    assert.match(
      mainOf(page.html).replace(/\s+/g, ' '),
      /calls itself https:\/\/login\.microsoftonline\.com\/\{tenantid\}\/v2\.0, but .* is https:\/\/login\.microsoftonline\.com\/common\/v2\.0\. .*must set the URL of your own tenant/,
    );
  }
  assert.ok(service.logged.some(({ fields }) => /all tenants/.test(String(fields.fault))));
});

test('What the userinfo endpoint says about one address does not verify another', async (t) => {
  const { page } = await signInAt(t, {
    name: 'two addresses',
    source: '',
    idToken: { email: 'owner@example.com' },
    userinfo: { email: 'mira@example.com', email_verified: true },
    result: '',
  });
  assert.equal(page.status, 403);
  assert.match(mainOf(page.html), /whether it has verified owner@example\.com/);
});
