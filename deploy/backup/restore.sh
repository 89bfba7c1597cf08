#!/usr/bin/env bash
# Puts a copy made by backup.sh back. Stop every gateway first.
#
#   deploy/backup/restore.sh SOURCE [FOLDER…]
#
# The folders are those of backup.sh, in the same order; they must be empty or absent. With DATABASE_URL it also restores the dump of PostgreSQL, into a
# database without that schema. Redis reads its file when it starts: docs/guides/backup.md says how.
set -euo pipefail
umask 077

[ $# -ge 1 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
source=$1
shift
[ -d "$source" ] || { echo "$source is not a folder." >&2; exit 2; }

number=0
for folder in "$@"; do
  number=$((number + 1))
  [ -d "$source/files-$number" ] || { echo "$source has no files-$number for $folder." >&2; exit 2; }
  [ -z "$(ls -A "$folder" 2> /dev/null)" ] || { echo "$folder is not empty. Move it away first." >&2; exit 2; }
  mkdir -p "$folder"
  cp --archive "$source/files-$number/." "$folder/"
  echo "files of $folder: restored"
done
if [ -n "${DATABASE_URL:-}" ] && [ -f "$source/postgres.dump" ]; then
  pg_restore --no-owner --exit-on-error --single-transaction --dbname="$DATABASE_URL" "$source/postgres.dump"
  echo "PostgreSQL: restored"
fi
