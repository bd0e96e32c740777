/** How many links of a message are looked at, and how long one may be. */

export const MAX_LINKS = 1000;

/** In characters; longer ones are not read, and most servers refuse them. */
export const MAX_URL = 8192;
