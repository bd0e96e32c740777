/** The roles in words. */

import { allows, type Role } from '../../http/actor.ts';

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

/** The roles that people can be given, as the options of a form. */
export const ROLE_OPTIONS: [role: Role, text: string][] = [
  ['viewer', ROLE_TEXTS.viewer],
  ['member', ROLE_TEXTS.member],
  ['admin', ROLE_TEXTS.admin],
];

/** Whether the reader may change or remove a member with the role: only the owner may change admins. */
export const canChange = (reader: Role, target: Role): boolean =>
  target !== 'owner' && allows(reader, target === 'admin' ? 'owner' : 'admin');
