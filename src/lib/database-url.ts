/** Where the database is: the path of an SQLite file, `:memory:`, or a PostgreSQL URL. */

export const isPostgresUrl = (location: string): boolean => /^postgres(ql)?:\/\//.test(location);

/** The location for logs and error messages: host, port and name, but no user, password or parameters. */
export function databaseLabel(location: string): string {
  if (!isPostgresUrl(location)) return location;
  const { host, pathname, searchParams } = new URL(location);
  return `postgres://${host || (searchParams.get('host') ?? '')}${pathname}`;
}
