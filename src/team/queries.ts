/** What the service and its commands use of the team. */

export { createApiKey, identifyKey, type NewKey } from './api-keys.ts';
export { findOwner, type TeamContext } from './members.ts';
export { makeOwner } from './owner.ts';
