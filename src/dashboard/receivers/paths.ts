/** The path of the accounts at receivers. */

export const RECEIVERS = '/receivers';
