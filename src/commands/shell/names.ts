/** What the completions of all shells share. */

/** `deliverability-admin` of the Debian package runs the same commands as the user of the service. */
export const PROGRAMS = ['deliverability', 'deliverability-admin'] as const;

/** What can stand in the place of a command. */
export const GLOBAL_WORDS = ['help', '--help', '--version'] as const;
