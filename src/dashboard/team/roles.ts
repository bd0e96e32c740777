/** The roles in words. */

import { allows, ROLES, type Role } from '../../http/actor.ts';

export const ROLE_NAMES: Record<Role, string> = {
  viewer: 'Viewer',
  member: 'Member',
  admin: 'Admin',
  owner: 'Owner',
};

/** With what each role allows. */
export const ROLE_TEXTS: Record<Role, string> = {
  viewer: 'Viewer: read tests and reports',
  member: 'Member: tests, domains, monitors',
  admin: 'Admin: everything but ownership',
  owner: 'Owner: everything',
};

/** Whether the reader may change or remove a member with the role: only the owner may change admins. */
export const canChange = (reader: Role, target: Role): boolean =>
  target !== 'owner' && allows(reader, target === 'admin' ? 'owner' : 'admin');

/** The roles that a role can give, as the options of a form. */
export const rolesUpTo = (role: Role): [role: Role, text: string][] =>
  ROLES.filter((other) => allows(role, other)).map((other) => [other, ROLE_TEXTS[other]]);

export const ROLE_OPTIONS = rolesUpTo('admin');

export const MODES: ['live' | 'test', string][] = [
  ['live', 'Live'],
  ['test', 'Test mode'],
];
