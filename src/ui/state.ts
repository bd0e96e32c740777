/** How good something is. Each state has a color and an icon, and a page says it in a word too. */
export type State = 'pass' | 'warn' | 'fail' | 'info' | 'unknown';
