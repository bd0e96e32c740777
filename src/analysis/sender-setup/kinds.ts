/** The ways of sending that cause many problems at once. Findings have them in their evidence, as `setup`. */

export const SETUP_KINDS = ['contact_form', 'default_sender', 'access_line'] as const;
export type SetupKind = (typeof SETUP_KINDS)[number];
