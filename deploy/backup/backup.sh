#!/usr/bin/env bash
# Copies everything that a gateway keeps, while it runs:
#
#   deploy/backup/backup.sh DESTINATION [FOLDER…]
#
# FOLDER is where the gateway keeps its files: .toolarsenal, /data or /var/lib/toolarsenal. With DATABASE_URL it also dumps the schema "toolarsenal"
# (or DATABASE_SCHEMA) of PostgreSQL, and with REDIS_URL the data of Redis or Valkey. Needs node, and pg_dump or redis-cli for those two.
# The copy contains private keys: only its owner can read it.
set -euo pipefail
umask 077

[ $# -ge 1 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
destination=$1
shift
[ ! -e "$destination" ] || { echo "$destination exists. Name a new folder." >&2; exit 2; }
mkdir -p "$destination"

# SQLite files must not be copied as files while somebody writes to them.
copy_sqlite() {
  node --disable-warning=ExperimentalWarning -e '
    const { DatabaseSync } = require("node:sqlite");
    const [from, to] = process.argv.slice(1);
    const database = new DatabaseSync(from, { readOnly: true, timeout: 30_000 });
    database.prepare("VACUUM INTO ?").run(to);
    database.close();' "$1" "$2"
}

is_sqlite() { [ "$(head -c 15 "$1" | tr -d '\0')" = "SQLite format 3" ]; }

# The full parts of an audit log never change, but a new one may come while they are copied: then they are copied again.
full_parts() { find "$1" -type f -regextype posix-extended -regex '.*\.[0-9]{15}' | sort; }

copy_folder() {
  local from=$1 to=$2 before path name
  while :; do
    before=$(full_parts "$from")
    rm -rf "$to"
    mkdir -p "$to"
    while IFS= read -r -d '' path; do
      name=${path#"$from"/}
      case $name in *-wal | *-shm | *.lock | *.tmp | *.pruning | cache/* | npm/*) continue ;; esac
      mkdir -p "$to/$(dirname "$name")"
      if is_sqlite "$path"; then copy_sqlite "$path" "$to/$name"; else cp --preserve=mode,timestamps "$path" "$to/$name"; fi
    done < <(find "$from" -type f -print0)
    [ "$before" != "$(full_parts "$from")" ] || break
  done
}

number=0
for folder in "$@"; do
  [ -d "$folder" ] || { echo "$folder is not a folder." >&2; exit 2; }
  number=$((number + 1))
  copy_folder "${folder%/}" "$destination/files-$number"
  echo "files of $folder: $destination/files-$number"
done
if [ -n "${DATABASE_URL:-}" ]; then
  pg_dump --format=custom --no-owner --schema="${DATABASE_SCHEMA:-toolarsenal}" --file="$destination/postgres.dump" "$DATABASE_URL"
  echo "PostgreSQL: $destination/postgres.dump"
fi
if [ -n "${REDIS_URL:-}" ]; then
  redis-cli -u "$REDIS_URL" --no-auth-warning --rdb "$destination/redis.rdb" > /dev/null 2>&1 || { echo "redis-cli --rdb failed" >&2; exit 1; }
  echo "Redis: $destination/redis.rdb"
fi
