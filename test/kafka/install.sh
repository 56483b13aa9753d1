#!/usr/bin/env bash
# Puts the jars of the Kafka that the tests run against where they look for
# it: $SHAREHOOK_KAFKA_HOME/libs, by default in the user's cache folder.
# Maven and a JDK come from Debian's packages where they are missing.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
version=$(sed -n 's:.*<kafka.version>\(.*\)</kafka.version>.*:\1:p' "$here/pom.xml")

# The same rule as in installation.go.
if [ -z "${SHAREHOOK_KAFKA_HOME:-}" ]; then
  case "$(uname -s)" in
    Darwin) cache=$HOME/Library/Caches ;;
    *) cache=${XDG_CACHE_HOME:-$HOME/.cache} ;;
  esac
  SHAREHOOK_KAFKA_HOME=$cache/sharehook/kafka-$version
fi
libs=$SHAREHOOK_KAFKA_HOME/libs

missing=()
command -v java >/dev/null || missing+=(default-jre-headless)
if [ ! -d "$libs" ]; then
  command -v mvn >/dev/null || missing+=(maven)
fi
if [ "${#missing[@]}" -gt 0 ]; then
  command -v apt-get >/dev/null || {
    echo "missing: ${missing[*]}; install a JDK of version 17 or later and Maven" >&2
    exit 1
  }
  sudo=
  [ "$(id -u)" = 0 ] || sudo=sudo
  $sudo apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
fi

if [ -d "$libs" ]; then
  exit 0
fi

# Filled aside and renamed: the folder is there whole or not at all.
mkdir -p "$SHAREHOOK_KAFKA_HOME"
aside=$(mktemp -d "$SHAREHOOK_KAFKA_HOME/libs.XXXXXX")
trap 'rm -rf "$aside"' EXIT
echo "fetching Kafka $version into $libs"
mvn -q -B -f "$here/pom.xml" dependency:copy-dependencies -DoutputDirectory="$aside/libs" -DincludeScope=runtime
mv "$aside/libs" "$libs"
