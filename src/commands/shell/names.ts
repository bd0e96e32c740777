/** What the completions of all shells share. */

/** Marks a template as a script, which is not read as sentences. */
export const shell = (parts: TemplateStringsArray, ...values: string[]): string =>
  String.raw({ raw: parts }, ...values);

/** `deliverability-admin` of the Debian package runs the same commands as the user of the service. */
export const PROGRAMS = ['deliverability', 'deliverability-admin'] as const;

/** What can follow the program, beside the commands. */
export const GLOBAL_WORDS = ['help', '--help', '--version'] as const;
