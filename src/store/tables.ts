/** The types of all rows, under the name by which the code imports them; schema.sql is where they are declared. */

export type * from './tables.generated.ts';
